/** What lies below the features: the outline of land, a grid of degrees, or tiles of the user's own. */
import { tilePixels, toWorldX, toWorldY, worldSize } from "../../../../view/world.js";
import { readColor } from "../palette.js";
import type { Camera } from "./camera.js";

/** GeoJSON of the land, in degrees. */
export interface Land {
  readonly geometry: { readonly coordinates: readonly (readonly (readonly (readonly number[])[])[])[] };
}

/** The outline is 10 km off at best: closer, it is only a hint. */
const outlineZoom = 9;

/** Degrees between lines of the grid, the widest first. */
const gridSteps = [30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001];

/** Pixels of the corner with the buttons of the map. */
const [buttonsWidth, buttonsHeight] = [48, 130];

/** Pixels between lines of the grid. */
const minGridPixels = 110;

/** Rings in shares of the world. */
export function worldRings({ geometry }: Land): Float64Array[] {
  return geometry.coordinates.flatMap((polygon) =>
    polygon.map((ring) => {
      const xy = new Float64Array(2 * ring.length);
      ring.forEach(([longitude, latitude], k) => {
        xy[2 * k] = toWorldX(longitude!) / worldSize;
        xy[2 * k + 1] = toWorldY(latitude!) / worldSize;
      });
      return xy;
    }),
  );
}

/** Worlds in sight, as shifts by whole worlds. */
export function visibleTurns(camera: Camera): number[] {
  const [first, last] = [camera.toWorld({ x: 0, y: 0 }).x, camera.toWorld({ x: camera.width, y: 0 }).x];
  const turns: number[] = [];
  for (let turn = Math.floor(first) - 1; turn <= Math.floor(last); turn++) turns.push(turn);
  return turns;
}

export function drawLand(context: CanvasRenderingContext2D, camera: Camera, rings: readonly Float64Array[]): void {
  context.fillStyle = readColor("sea");
  context.fillRect(0, 0, camera.width, camera.height);
  const path = new Path2D();
  const { scale, width, height } = camera;
  for (const turn of visibleTurns(camera)) {
    for (const ring of rings) {
      for (let k = 0; k < ring.length; k += 2) {
        const x = (ring[k]! + turn - camera.x) * scale + width / 2;
        const y = (ring[k + 1]! - camera.y) * scale + height / 2;
        if (k === 0) path.moveTo(x, y);
        else path.lineTo(x, y);
      }
      path.closePath();
    }
  }
  context.fillStyle = readColor("land");
  context.fill(path, "evenodd");
  if (camera.zoom > outlineZoom) return;
  context.strokeStyle = readColor("coast");
  context.lineWidth = 1;
  context.stroke(path);
}

export function drawGrid(context: CanvasRenderingContext2D, camera: Camera): void {
  const perDegree = camera.scale / 360;
  const step = [...gridSteps].reverse().find((degrees) => degrees * perDegree >= minGridPixels) ?? gridSteps[0]!;
  const decimals = Math.max(0, Math.ceil(-Math.log10(step)));
  context.strokeStyle = readColor("coast");
  context.fillStyle = readColor("quiet");
  context.globalAlpha = 0.45;
  context.lineWidth = 0.5;
  context.font = "11px system-ui, sans-serif";
  const first = camera.toWorld({ x: 0, y: 0 });
  const last = camera.toWorld({ x: camera.width, y: camera.height });
  const labels: (readonly [text: string, x: number, y: number])[] = [];
  context.beginPath();
  for (let at = Math.ceil(((first.x - 0.5) * 360) / step); at * step < (last.x - 0.5) * 360; at++) {
    const x = Math.round(camera.toScreen((at * step) / 360 + 0.5, 0).x) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, camera.height);
    const longitude = ((((at * step + 180) % 360) + 360) % 360) - 180;
    labels.push([degreesText(longitude, decimals, "E", "W"), x + 4, 14]);
  }
  const [north, south] = [camera.placeAt({ x: 0, y: 0 }).latitude, camera.placeAt({ x: 0, y: camera.height }).latitude];
  for (let at = Math.ceil(south / step); at * step < Math.min(85, north); at++) {
    const y = Math.round(camera.toScreen(0, toWorldY(at * step) / worldSize).y) + 0.5;
    context.moveTo(0, y);
    context.lineTo(camera.width, y);
    labels.push([degreesText(at * step, decimals, "N", "S"), 6, y - 4]);
  }
  context.stroke();
  context.globalAlpha = 0.9;
  // The buttons of the map are in this corner.
  for (const [text, x, y] of labels) if (x > buttonsWidth || y > buttonsHeight) context.fillText(text, x, y);
  context.globalAlpha = 1;
}

const degreesText = (value: number, decimals: number, positive: string, negative: string): string =>
  `${Math.abs(value).toFixed(decimals)}°${value === 0 ? "" : value > 0 ? ` ${positive}` : ` ${negative}`}`;

/** Side of the tiles of a base map in pixels. */
const basemapPixels = 256;
const maxBasemapTiles = 200;

/** Tiles of a server that the user names. */
export class Basemap {
  private readonly images = new Map<string, HTMLImageElement>();

  constructor(
    private readonly template: string,
    private readonly onLoad: () => void,
  ) {}

  draw(context: CanvasRenderingContext2D, camera: Camera): void {
    const z = Math.max(0, Math.min(19, Math.round(camera.zoom + Math.log2(tilePixels / basemapPixels))));
    const side = 2 ** z;
    const [first, last] = [camera.toWorld({ x: 0, y: 0 }), camera.toWorld({ x: camera.width, y: camera.height })];
    for (let y = Math.max(0, Math.floor(first.y * side)); y <= Math.min(side - 1, Math.floor(last.y * side)); y++) {
      for (let x = Math.floor(first.x * side); x <= Math.floor(last.x * side); x++) {
        const image = this.image(z, ((x % side) + side) % side, y);
        if (!image.complete || image.naturalWidth === 0) continue;
        const [from, to] = [camera.toScreen(x / side, y / side), camera.toScreen((x + 1) / side, (y + 1) / side)];
        context.drawImage(image, from.x, from.y, to.x - from.x + 0.5, to.y - from.y + 0.5);
      }
    }
  }

  private image(z: number, x: number, y: number): HTMLImageElement {
    const address = this.template
      .replaceAll("{z}", String(z))
      .replaceAll("{x}", String(x))
      .replaceAll("{y}", String(y));
    const known = this.images.get(address);
    if (known) return known;
    const image = new Image();
    image.referrerPolicy = "no-referrer";
    image.addEventListener("load", this.onLoad);
    image.src = address;
    this.images.set(address, image);
    if (this.images.size > maxBasemapTiles) this.images.delete(this.images.keys().next().value!);
    return image;
  }
}
