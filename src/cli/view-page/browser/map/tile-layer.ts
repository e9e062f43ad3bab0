/** The tiles of a layer on the map: asks for those in sight, paints them, and draws the pictures. */
import type { ColorChoice, LayerFilter, ViewSource } from "../../../../view/protocol.js";
import { notInTile, type TileContent } from "../../../../view/tiles/tile-content.js";
import { maxZoom, tilePixels } from "../../../../view/world.js";
import { isAbort } from "../dom.js";
import type { Camera } from "./camera.js";
import { dotStep, paintTile } from "./tile-painter.js";

/** Everything that changes the content of tiles, and their colors. */
export interface LayerLook extends LayerFilter {
  readonly color: ColorChoice | null;
  readonly colors: readonly string[];
  readonly ring: string;
  /** Whether features are lines or areas. */
  readonly hasShapes: boolean;
}

interface Tile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  content: TileContent | null;
  picture: ImageBitmap | null;
  /** What the picture was painted for; null: not yet. */
  paintedFor: string | null;
  lastUsed: number;
  aborter: AbortController | null;
  failed: boolean;
}

/** Tiles of a layer that are kept. */
const maxTiles = 160;

/** Levels of the pyramid above a missing tile in which a picture is looked for. */
const fallbackLevels = 6;

export class TileLayer {
  private tiles = new Map<string, Tile>();
  /** Tiles with another filter or other classes, until the new ones are there. */
  private outdated = new Map<string, Tile>();
  private look: LayerLook;
  /** By zoom, the step of the most crowded tile and the greatest weight: dots of a zoom look the same. */
  private readonly steps = new Map<number, { readonly step: number; readonly maxWeight: number }>();
  private time = 0;

  constructor(
    private readonly source: ViewSource,
    look: LayerLook,
    private readonly onChange: () => void,
  ) {
    this.look = look;
  }

  setLook(look: LayerLook): void {
    const isSame = look.where === this.look.where && JSON.stringify(look.color) === JSON.stringify(this.look.color);
    this.look = look;
    if (!isSame) {
      this.clear(this.outdated);
      this.outdated = this.tiles;
      for (const { aborter } of this.outdated.values()) aborter?.abort();
      this.tiles = new Map();
      this.steps.clear();
    }
  }

  private clear(tiles: Map<string, Tile>): void {
    for (const { picture, aborter } of tiles.values()) {
      aborter?.abort();
      picture?.close();
    }
    tiles.clear();
  }

  /** Draws what is there, and asks for what is missing. @returns whether everything in sight is drawn */
  draw(
    context: CanvasRenderingContext2D,
    camera: Camera,
    ratio: number,
    isMoving: boolean,
    mayPaint: () => boolean,
  ): boolean {
    this.time++;
    const z = tileZoom(camera);
    const visible = visibleTiles(camera, z);
    let isComplete = true;
    for (const place of visible) {
      const tile = this.tileAt(z, place.x, place.y);
      const pixels = Math.max(1, Math.round(tilePixels * 2 ** (camera.zoom - z) * ratio));
      if (tile.content && this.isOutdatedPicture(tile, pixels, ratio)) {
        if ((isMoving && tile.paintedFor !== null) || !mayPaint()) isComplete = false;
        else this.paint(tile, pixels, ratio);
      }
      if (!tile.content && !tile.failed) isComplete = false;
      if (tile.paintedFor !== null) drawPicture(context, camera, ratio, tile, place.turn);
      else this.drawFallback(context, camera, ratio, tile, place.turn);
    }
    if (isComplete && this.outdated.size > 0) this.clear(this.outdated);
    this.forget(visible.length, z);
    return isComplete;
  }

  private tileAt(z: number, x: number, y: number): Tile {
    const key = `${z}/${x}/${y}`;
    let tile = this.tiles.get(key);
    if (!tile) {
      tile = { z, x, y, content: null, picture: null, paintedFor: null, lastUsed: 0, aborter: null, failed: false };
      this.tiles.set(key, tile);
      this.load(tile);
    }
    tile.lastUsed = this.time;
    return tile;
  }

  private load(tile: Tile): void {
    tile.aborter = new AbortController();
    const { z, x, y } = tile;
    const { color, layer, where } = this.look;
    this.source
      .tile({ layer, where }, { z, x, y }, color, tile.aborter.signal)
      .then((content) => {
        tile.content = content;
        const { step, maxWeight } = this.stepOf(z);
        this.steps.set(z, {
          step: Math.max(step, dotStep(content.dots.classes.length, this.look.hasShapes)),
          maxWeight: content.dots.weights.reduce((most, weight) => Math.max(most, weight), maxWeight),
        });
      })
      .catch((error: unknown) => {
        tile.failed = !isAbort(error);
      })
      .finally(() => {
        tile.aborter = null;
        this.onChange();
      });
  }

  private keyOf(z: number, pixels: number, ratio: number): string {
    const { step, maxWeight } = this.stepOf(z);
    return `${pixels} ${ratio} ${step} ${maxWeight} ${this.look.colors.join()}`;
  }

  private stepOf(z: number) {
    return this.steps.get(z) ?? { step: 0, maxWeight: 0 };
  }

  private isOutdatedPicture(tile: Tile, pixels: number, ratio: number): boolean {
    return tile.paintedFor !== this.keyOf(tile.z, pixels, ratio);
  }

  private paint(tile: Tile, pixels: number, ratio: number): void {
    const { colors, ring } = this.look;
    const style = { colors, ring, ...this.stepOf(tile.z) };
    tile.picture?.close();
    tile.picture = paintTile(tile.content!, pixels, ratio, style);
    tile.paintedFor = this.keyOf(tile.z, pixels, ratio);
  }

  /** Draws the picture of the same place before a change, or the part of a picture of a lower zoom. */
  private drawFallback(
    context: CanvasRenderingContext2D,
    camera: Camera,
    ratio: number,
    tile: Tile,
    turn: number,
  ): void {
    const before = this.outdated.get(`${tile.z}/${tile.x}/${tile.y}`);
    if (before && before.paintedFor !== null) {
      drawPicture(context, camera, ratio, before, turn);
      return;
    }
    for (let up = 1; up <= fallbackLevels && up <= tile.z; up++) {
      const parent = this.tiles.get(`${tile.z - up}/${tile.x >> up}/${tile.y >> up}`);
      if (!parent || parent.paintedFor === null) continue;
      if (parent.picture) drawPart(context, camera, ratio, tile, turn, parent.picture, up);
      return;
    }
    // Zooming out: the pictures of the four tiles below.
    for (let quarter = 0; quarter < 4; quarter++) {
      const [x, y] = [2 * tile.x + (quarter & 1), 2 * tile.y + (quarter >> 1)];
      const child = this.tiles.get(`${tile.z + 1}/${x}/${y}`);
      if (child && child.paintedFor !== null) drawPicture(context, camera, ratio, child, turn);
    }
  }

  /** Aborts requests for tiles out of sight, and forgets those that were not drawn for longest. */
  private forget(visible: number, z: number): void {
    for (const [key, tile] of this.tiles) {
      if (tile.lastUsed === this.time || !tile.aborter || tile.z === z) continue;
      tile.aborter.abort();
      this.tiles.delete(key);
    }
    if (this.tiles.size <= Math.max(maxTiles, 2 * visible)) return;
    const oldest = [...this.tiles].sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    for (const [key, tile] of oldest.slice(0, this.tiles.size - maxTiles)) {
      if (tile.lastUsed === this.time) break;
      tile.aborter?.abort();
      tile.picture?.close();
      this.tiles.delete(key);
    }
  }

  /** Features in the tiles in sight, and the marks they are drawn as; null until all are there. */
  statistics(camera: Camera): TileStatistics | null {
    const z = tileZoom(camera);
    const shapes = new Set<number>();
    const seen = new Set<Tile>();
    const sum = { dotted: 0, dots: 0, omitted: 0 };
    for (const { x, y } of visibleTiles(camera, z)) {
      const tile = this.tiles.get(`${z}/${x}/${y}`);
      if (!tile?.content) return null;
      if (seen.has(tile)) continue;
      seen.add(tile);
      const { dotted, omitted, dots } = tile.content;
      sum.dotted += dotted;
      sum.omitted += omitted;
      // Dots of the margin are those of a neighbor, too.
      sum.dots += Math.min(dotted, dots.classes.length);
      for (const row of tile.content.shapes.rows) if (row !== notInTile) shapes.add(row);
    }
    return { features: sum.dotted + shapes.size, marks: sum.dots + shapes.size, omitted: sum.omitted };
  }
}

export interface TileStatistics {
  readonly features: number;
  readonly marks: number;
  /** Left out, since a tile would have too many positions. */
  readonly omitted: number;
}

/** The zoom of tiles: their cells are 1.2 to 2.4 pixels wide. */
const tileZoom = ({ zoom }: Camera): number => Math.max(0, Math.min(maxZoom, Math.round(zoom + 0.25)));

interface VisibleTile {
  readonly x: number;
  readonly y: number;
  /** Worlds to the east of the first one. */
  readonly turn: number;
}

/** Tiles in sight, those in the middle first. */
function visibleTiles(camera: Camera, z: number): VisibleTile[] {
  const side = 2 ** z;
  const first = camera.toWorld({ x: 0, y: 0 });
  const last = camera.toWorld({ x: camera.width, y: camera.height });
  const found: VisibleTile[] = [];
  for (let y = Math.max(0, Math.floor(first.y * side)); y <= Math.min(side - 1, Math.floor(last.y * side)); y++) {
    for (let x = Math.floor(first.x * side); x <= Math.floor(last.x * side); x++) {
      const turn = Math.floor(x / side);
      found.push({ x: x - turn * side, y, turn });
    }
  }
  const distance = ({ x, y, turn }: VisibleTile) =>
    Math.abs((x + 0.5) / side + turn - camera.x) + Math.abs((y + 0.5) / side - camera.y);
  return found.sort((a, b) => distance(a) - distance(b));
}

/** Edges in device pixels. Neighbors share them, so that there are no seams. */
function edgesOf(camera: Camera, ratio: number, z: number, x: number, y: number, turn: number) {
  const side = 2 ** z;
  const [from, to] = [
    camera.toScreen(x / side + turn, y / side),
    camera.toScreen((x + 1) / side + turn, (y + 1) / side),
  ];
  const [left, top] = [Math.round(from.x * ratio), Math.round(from.y * ratio)];
  return { left, top, width: Math.round(to.x * ratio) - left, height: Math.round(to.y * ratio) - top };
}

type Placed = Pick<Tile, "z" | "x" | "y">;

function drawPicture(
  context: CanvasRenderingContext2D,
  camera: Camera,
  ratio: number,
  { z, x, y, picture }: Placed & { readonly picture: ImageBitmap | null },
  turn: number,
): void {
  if (!picture) return;
  const { left, top, width, height } = edgesOf(camera, ratio, z, x, y, turn);
  context.drawImage(picture, left, top, width, height);
}

function drawPart(
  context: CanvasRenderingContext2D,
  camera: Camera,
  ratio: number,
  { z, x, y }: Placed,
  turn: number,
  picture: ImageBitmap,
  up: number,
): void {
  const size = picture.width / 2 ** up;
  const { left, top, width, height } = edgesOf(camera, ratio, z, x, y, turn);
  const [column, row] = [x % 2 ** up, y % 2 ** up];
  context.drawImage(picture, column * size, row * size, size, size, left, top, width, height);
}
