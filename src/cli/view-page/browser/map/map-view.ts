/** The map: land, layers and the selected feature, on one canvas. */
import type { Box } from "../../../../model/feature-extent.js";
import type { FeatureDetail, ViewSource } from "../../../../view/protocol.js";
import { worldSize } from "../../../../view/world.js";
import { onSchemeChange, readColor } from "../palette.js";
import { Camera, type Point } from "./camera.js";
import { Gestures } from "./gestures.js";
import { Basemap, drawGrid, drawLand, type Land, worldRings } from "./ground.js";
import { drawCrosshair, drawSelection } from "./overlay.js";
import { type LayerLook, TileLayer } from "./tile-layer.js";

export interface MapEvents {
  onPick(point: Point): void;
  onHover(point: Point | null): void;
  /** After each frame. @param isComplete whether everything in sight is drawn */
  onFrame(isComplete: boolean): void;
}

/** Milliseconds after the last movement until pictures are painted for the new zoom. */
const restTime = 140;

/** Milliseconds of a frame for painting. */
const paintTime = 12;

export class MapView {
  readonly camera = new Camera();
  private readonly canvas: HTMLCanvasElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly gestures: Gestures;
  private readonly rings: readonly Float64Array[];
  private readonly basemap: Basemap | null;
  private layers: readonly { readonly id: number; readonly tiles: TileLayer }[] = [];
  private selected: FeatureDetail | null = null;
  private isRequested = false;
  private lastMove = 0;
  private ratio = 1;

  constructor(
    private readonly frame: HTMLElement,
    private readonly source: ViewSource,
    land: Land,
    basemap: string | null,
    private readonly events: MapEvents,
  ) {
    this.canvas = frame.querySelector("canvas")!;
    this.context = this.canvas.getContext("2d", { alpha: false })!;
    this.rings = worldRings(land);
    this.basemap = basemap === null ? null : new Basemap(basemap, () => this.redraw());
    this.gestures = new Gestures(this.canvas, this.camera, {
      onMove: () => this.moved(),
      onPick: events.onPick,
      onHover: events.onHover,
    });
    new ResizeObserver(() => this.resize()).observe(frame);
    for (const type of ["focus", "blur"]) this.canvas.addEventListener(type, () => this.redraw());
    onSchemeChange(() => this.redraw());
    this.measure();
  }

  private resize(): void {
    this.measure();
    // At once: a canvas of another size is empty.
    this.draw();
  }

  private measure(): void {
    this.ratio = Math.min(3, window.devicePixelRatio || 1);
    const { clientWidth, clientHeight } = this.frame;
    this.camera.width = Math.max(1, clientWidth);
    this.camera.height = Math.max(1, clientHeight);
    this.canvas.width = Math.round(this.camera.width * this.ratio);
    this.canvas.height = Math.round(this.camera.height * this.ratio);
  }

  private moved(): void {
    this.lastMove = performance.now();
    this.redraw();
  }

  redraw(): void {
    if (this.isRequested) return;
    this.isRequested = true;
    requestAnimationFrame(() => {
      this.isRequested = false;
      this.draw();
    });
  }

  private draw(): void {
    const { context, camera, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawLand(context, camera, this.rings);
    this.basemap?.draw(context, camera);
    if (!this.basemap) drawGrid(context, camera);
    context.setTransform(1, 0, 0, 1, 0, 0);
    const isMoving = performance.now() - this.lastMove < restTime;
    const until = performance.now() + paintTime;
    const mayPaint = () => performance.now() < until;
    let isComplete = true;
    for (const { tiles } of [...this.layers].reverse())
      if (!tiles.draw(context, camera, ratio, isMoving, mayPaint)) isComplete = false;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.selected) drawSelection(context, camera, this.selected);
    if (this.canvas.matches(":focus-visible")) drawCrosshair(context, camera);
    // What was not painted in time follows in the next frame.
    if (isMoving || !mayPaint()) this.redraw();
    this.events.onFrame(isComplete && !isMoving);
  }

  /** @param looks of the layers in sight, the upper ones first */
  setLayers(looks: readonly LayerLook[]): void {
    const known = new Map(this.layers.map((one) => [one.id, one]));
    this.layers = looks.map((look) => {
      const one = known.get(look.layer) ?? {
        id: look.layer,
        tiles: new TileLayer(this.source, look, () => this.redraw()),
      };
      one.tiles.setLook(look);
      return one;
    });
    this.redraw();
  }

  select(feature: FeatureDetail | null): void {
    this.selected = feature;
    this.redraw();
  }

  fit(box: Box, most = 15): void {
    this.camera.fit(box, most);
    this.moved();
  }

  zoomBy(change: number): void {
    this.gestures.animateZoom(this.camera.zoom + change, { x: this.camera.width / 2, y: this.camera.height / 2 });
  }

  /** Moves to a place in units of the world, unless it is in sight already. */
  reveal([x, y]: readonly [number, number], zoom: number | null = null): void {
    const { camera } = this;
    const [left, top] = [x / worldSize, y / worldSize];
    if (zoom !== null) camera.zoom = Math.max(camera.zoom, zoom);
    if (zoom !== null || !camera.shows(left, top, 60)) {
      camera.x = left;
      camera.y = top;
    }
    this.moved();
  }

  /** Moves a place in units of the world to where a panel on the map does not hide it. */
  uncover([x, y]: readonly [number, number], panel: DOMRect): void {
    const { camera } = this;
    const frame = this.frame.getBoundingClientRect();
    const left = x / worldSize;
    const point = camera.toScreen(left + Math.round(camera.x - left), y / worldSize);
    const [fromX, fromY] = [panel.left - frame.left, panel.top - frame.top];
    if (point.x < fromX || point.y < fromY || point.x > panel.right - frame.left || point.y > panel.bottom - frame.top)
      return;
    // The panel is at the right, or on a phone at the bottom.
    if (fromX > fromY) camera.panBy(point.x - fromX / 2, 0);
    else camera.panBy(0, point.y - fromY / 2);
    this.moved();
  }

  focus(): void {
    this.canvas.focus();
  }

  statisticsOf(layer: number) {
    return this.layers.find(({ id }) => id === layer)?.tiles.statistics(this.camera) ?? null;
  }

  static get ringColor(): string {
    return readColor("mark-ring");
  }
}
