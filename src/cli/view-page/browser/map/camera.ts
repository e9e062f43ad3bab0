/** Where the map looks. Positions of the world are shares of its side, from the north-west. */

import type { Box } from "../../../../model/feature-extent.js";
import { maxZoom, tilePixels, toLatitude, toLongitude, toWorldX, toWorldY, worldSize } from "../../../../view/world.js";

export interface Point {
  readonly x: number;
  readonly y: number;
}

const minZoom = -1;

export class Camera {
  /** The center, in shares of the world; x is not limited. */
  x = 0.5;
  y = 0.4;
  zoom = 1;
  /** Of the map, in CSS pixels. */
  width = 1;
  height = 1;

  /** Pixels of the side of the world. */
  get scale(): number {
    return tilePixels * 2 ** this.zoom;
  }

  toScreen(x: number, y: number): Point {
    const { scale } = this;
    return { x: (x - this.x) * scale + this.width / 2, y: (y - this.y) * scale + this.height / 2 };
  }

  toWorld({ x, y }: Point): Point {
    const { scale } = this;
    return { x: this.x + (x - this.width / 2) / scale, y: this.y + (y - this.height / 2) / scale };
  }

  panBy(dx: number, dy: number): void {
    this.x += dx / this.scale;
    this.y += dy / this.scale;
    this.limit();
  }

  /** Zooms so that a point of the screen stays where it is. */
  zoomAt(zoom: number, { x, y }: Point): void {
    const place = this.toWorld({ x, y });
    this.zoom = Math.max(minZoom, Math.min(maxZoom, zoom));
    const { scale } = this;
    this.x = place.x - (x - this.width / 2) / scale;
    this.y = place.y - (y - this.height / 2) / scale;
    this.limit();
  }

  private limit(): void {
    this.y = Math.max(0, Math.min(1, this.y));
    this.x = ((this.x % 1) + 1) % 1;
  }

  /** Shows a box of degrees. @param most the greatest zoom */
  fit([west, south, east, north]: Box, most: number, padding = 40): void {
    const [left, right] = [toWorldX(west) / worldSize, toWorldX(east) / worldSize];
    const [top, bottom] = [toWorldY(north) / worldSize, toWorldY(south) / worldSize];
    const room = (size: number) => Math.max(64, size - 2 * Math.min(padding, size / 5));
    const scale = Math.min(
      room(this.width) / Math.max(right - left, 1e-9),
      room(this.height) / Math.max(bottom - top, 1e-9),
    );
    this.zoom = Math.max(minZoom, Math.min(most, Math.log2(scale / tilePixels)));
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
    this.limit();
  }

  /** Whether a position in shares of the world is on the screen, with a margin in pixels. */
  shows(x: number, y: number, margin = 0): boolean {
    const turned = x + Math.round(this.x - x);
    const point = this.toScreen(turned, y);
    return point.x >= margin && point.y >= margin && point.x <= this.width - margin && point.y <= this.height - margin;
  }

  /** In degrees. */
  placeAt(point: Point): { readonly longitude: number; readonly latitude: number } {
    const { x, y } = this.toWorld(point);
    const longitude = toLongitude((((x % 1) + 1) % 1) * worldSize);
    return { longitude, latitude: toLatitude(Math.max(0, Math.min(1, y)) * worldSize) };
  }

  /** Metres of a pixel in the middle of the map. */
  get metresPerPixel(): number {
    const latitude = toLatitude(this.y * worldSize);
    return (40_075_016.686 * Math.cos((latitude * Math.PI) / 180)) / this.scale;
  }
}
