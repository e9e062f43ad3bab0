/** Coordinates of the pointer, in degrees and in the system of the active layer. */
import type { ViewSource } from "../../../view/protocol.js";
import type { Camera, Point } from "./map/camera.js";
import { degreesText } from "./panels/feature-panel.js";
import type { LayerState } from "./state.js";

/** Milliseconds between two requests for coordinates. */
const pause = 60;

export class Cursor {
  private point: Point | null = null;
  private isAsking = false;
  private isOutdated = false;

  constructor(
    private readonly element: HTMLElement,
    private readonly source: ViewSource,
    private readonly camera: Camera,
    /** The layer whose system is shown; null: no other than degrees. */
    private readonly activeLayer: () => LayerState | null,
  ) {}

  /** @param point null: the middle of the map */
  async show(point: Point | null): Promise<void> {
    this.point = point;
    const { camera } = this;
    const { longitude, latitude } = camera.placeAt(point ?? { x: camera.width / 2, y: camera.height / 2 });
    const decimals = Math.max(1, Math.min(7, Math.ceil(camera.zoom / 3.3 + 1)));
    const degrees = degreesText(latitude, longitude, decimals);
    const layer = this.activeLayer();
    const crs = layer?.info.crs ?? null;
    if (layer === null || crs === null || crs.id === "OGC:CRS84" || crs.id === "EPSG:4326") {
      this.element.textContent = `${degrees}  WGS 84`;
      return;
    }
    // Both are shown at once: coordinates beside degrees of another place would be wrong.
    if (this.isAsking) {
      this.isOutdated = true;
      return;
    }
    this.isAsking = true;
    this.isOutdated = false;
    const found = await this.source.locate(layer.id, longitude, latitude).catch(() => null);
    const coordinates = found ? found.map(formatCoordinate).join(", ") : "outside";
    this.element.textContent = `${degrees}  ${crs.id ?? crs.name} ${coordinates}`;
    setTimeout(() => {
      this.isAsking = false;
      // The pointer or the map went on while the answer was on its way.
      if (this.isOutdated) void this.show(this.point);
    }, pause);
  }
}

const formatCoordinate = (value: number): string =>
  value.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: Math.abs(value) < 1000 ? 6 : 1 });
