/** The selected feature on the map. */
import type { FeatureDetail } from "../../../../view/protocol.js";
import { RingType } from "../../../../view/shape-record.js";
import { worldSize } from "../../../../view/world.js";
import { readColor } from "../palette.js";
import type { Camera } from "./camera.js";
import { visibleTurns } from "./ground.js";

/** Pixels; a smaller feature gets a ring around it. */
const smallShape = 12;

export function drawSelection(context: CanvasRenderingContext2D, camera: Camera, feature: FeatureDetail): void {
  if (!feature.center) return;
  const [ink, halo] = [readColor("chosen"), readColor("mark-ring")];
  context.lineJoin = "round";
  for (const turn of visibleTurns(camera)) {
    const areas = new Path2D();
    const lines = new Path2D();
    const points: (readonly [number, number])[] = [];
    let [least, most] = [Infinity, -Infinity];
    for (const { type, xy } of feature.rings) {
      const path = type === RingType.line ? lines : areas;
      for (let k = 0; k < xy.length; k += 2) {
        const { x, y } = camera.toScreen(xy[k]! / worldSize + turn, xy[k + 1]! / worldSize);
        least = Math.min(least, x, y - camera.height / 2 + camera.width / 2);
        most = Math.max(most, x, y - camera.height / 2 + camera.width / 2);
        if (type === RingType.points) points.push([x, y]);
        else if (k === 0) path.moveTo(x, y);
        else path.lineTo(x, y);
      }
      if (type === RingType.shell || type === RingType.hole) path.closePath();
    }
    context.fillStyle = ink;
    context.globalAlpha = 0.25;
    context.fill(areas, "evenodd");
    context.globalAlpha = 1;
    for (const [color, width] of [
      [halo, 6],
      [ink, 3],
    ] as const) {
      context.strokeStyle = color;
      context.lineWidth = width;
      context.stroke(areas);
      context.stroke(lines);
    }
    for (const [x, y] of points) drawPoint(context, x, y, ink, halo);
    if (points.length === 0 && most - least < smallShape) {
      const [x, y] = feature.center;
      const at = camera.toScreen(x / worldSize + turn, y / worldSize);
      context.beginPath();
      context.arc(at.x, at.y, smallShape, 0, 2 * Math.PI);
      context.stroke();
    }
  }
}

function drawPoint(context: CanvasRenderingContext2D, x: number, y: number, ink: string, halo: string): void {
  context.beginPath();
  context.arc(x, y, 7, 0, 2 * Math.PI);
  context.fillStyle = ink;
  context.fill();
  context.strokeStyle = halo;
  context.lineWidth = 2;
  context.stroke();
}

/** The place that the keyboard selects at. */
export function drawCrosshair(context: CanvasRenderingContext2D, { width, height }: Camera): void {
  const [x, y] = [Math.round(width / 2) + 0.5, Math.round(height / 2) + 0.5];
  context.strokeStyle = readColor("accent");
  context.lineWidth = 2;
  context.beginPath();
  for (const [dx, dy] of [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ] as const) {
    context.moveTo(x + 5 * dx, y + 5 * dy);
    context.lineTo(x + 14 * dx, y + 14 * dy);
  }
  context.stroke();
}
