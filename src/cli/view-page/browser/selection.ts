/** The selected feature: on the map, in the table, and in its panel. */
import type { FeatureDetail, LayerFilter, PickedFeatures, ViewSource } from "../../../view/protocol.js";
import { toLatitude, toLongitude, worldSize } from "../../../view/world.js";
import { announce, countOf, find, messageOf } from "./dom.js";
import type { Point } from "./map/camera.js";
import type { MapView } from "./map/map-view.js";
import { renderFeature } from "./panels/feature-panel.js";
import type { LayerState, PageState } from "./state.js";
import type { Grid } from "./table/grid.js";

export interface SelectionHost {
  readonly state: PageState;
  readonly map: MapView;
  readonly grid: Grid;
  readonly source: ViewSource;
  /** Of the layers on the map, the upper ones first. */
  filters(): LayerFilter[];
  /** Shows the layer in the table. */
  activate(layer: LayerState): void;
  showError(text: string): void;
}

/** The greatest zoom at which a point is shown. */
const pointZoom = 15;

/** Zooms for which the shape of a feature stays exact, before it is asked for again. */
const zoomReserve = 3;

const maxZoom = 20;

export class Selection {
  private readonly panel = find("feature");
  private picked: PickedFeatures = { features: [], count: 0 };
  private current: { readonly layer: LayerState; readonly row: number; readonly zoom: number } | null = null;
  /** Counts requests, so that a late answer does not replace a newer one. */
  private turn = 0;

  constructor(private readonly host: SelectionHost) {}

  get isOpen(): boolean {
    return !this.panel.hidden;
  }

  /** The selected row of a layer; null if it has none. */
  rowOf(layer: LayerState): number | null {
    return this.current?.layer === layer ? this.current.row : null;
  }

  private get shapeZoom(): number {
    return Math.max(0, Math.min(maxZoom, this.host.map.camera.zoom + zoomReserve));
  }

  /** Selects what is at a point of the map. */
  async pick(point: Point): Promise<void> {
    const { map, source, state } = this.host;
    const { x, y } = map.camera.toWorld(point);
    const turn = ++this.turn;
    try {
      const wrapped = (((x % 1) + 1) % 1) * worldSize;
      const limited = Math.max(0, Math.min(1, y)) * worldSize;
      const picked = await source.pick(this.host.filters(), wrapped, limited, Math.max(0, map.camera.zoom));
      if (turn !== this.turn) return;
      this.picked = picked;
      const [first] = picked.features;
      if (first) await this.select(state.layers[first.layer]!, first.row);
      else this.clear();
    } catch (error) {
      this.host.showError(messageOf(error));
    }
  }

  /** Selects a row of the table. */
  async selectRow(row: number): Promise<FeatureDetail | null> {
    const { state, grid, map } = this.host;
    this.picked = { features: [{ layer: state.active.id, row }], count: 1 };
    grid.select(row, null);
    const detail = await this.select(state.active, row, true);
    if (detail?.center) {
      map.reveal(detail.center);
      map.uncover(detail.center, this.panel.getBoundingClientRect());
    }
    return detail;
  }

  /** Selects a row of the table, and zooms to its feature. */
  async openRow(row: number): Promise<void> {
    const detail = await this.selectRow(row);
    if (detail) this.zoomTo(detail);
  }

  private async select(layer: LayerState, row: number, isInTable = false): Promise<FeatureDetail | null> {
    const { state, source, map } = this.host;
    const turn = ++this.turn;
    const zoom = this.shapeZoom;
    this.current = { layer, row, zoom };
    if (layer !== state.active) this.host.activate(layer);
    else if (!isInTable) void this.revealInTable();
    try {
      const detail = await source.feature(layer.id, row, zoom);
      if (turn !== this.turn) return null;
      map.select(detail);
      this.renderPanel(layer, detail);
      if (detail.center && !isInTable) map.uncover(detail.center, this.panel.getBoundingClientRect());
      return detail;
    } catch (error) {
      this.host.showError(messageOf(error));
      return null;
    }
  }

  /** Scrolls the table to the selected feature, if it is one of its rows. */
  async revealInTable(): Promise<void> {
    const { state, source, grid } = this.host;
    const { active } = state;
    const row = this.rowOf(active);
    if (row === null) {
      grid.select(null, null);
      return;
    }
    const position = await source.positionOf(active.id, active.query, row).catch(() => -1);
    if (this.rowOf(state.active) === row && state.active === active) grid.select(row, position);
  }

  /** Asks for the shape again when the map shows it larger than it is exact for. */
  async refine(): Promise<void> {
    const { current } = this;
    const { map, source } = this.host;
    if (!current || current.zoom >= maxZoom || map.camera.zoom <= current.zoom) return;
    const { turn } = this;
    this.current = { ...current, zoom: this.shapeZoom };
    const detail = await source.feature(current.layer.id, current.row, this.shapeZoom).catch(() => null);
    if (detail && turn === this.turn) map.select(detail);
  }

  private renderPanel(layer: LayerState, detail: FeatureDetail): void {
    const { features, count } = this.picked;
    const at = features.findIndex((one) => one.layer === layer.id && one.row === detail.row);
    renderFeature(this.panel, layer, detail, at < 0 ? null : { at, listed: features.length, count }, {
      onClose: () => this.clear(),
      onZoom: (feature) => this.zoomTo(feature),
      onStep: (change) => {
        const next = features[(at + change + features.length) % features.length]!;
        void this.select(this.host.state.layers[next.layer]!, next.row);
      },
    });
    const several = count > 1 ? `, ${at + 1} of ${countOf(count, "feature")} at this place` : "";
    announce(`Selected: ${find("feature-title").textContent}${several}`);
  }

  private zoomTo({ center, rings }: FeatureDetail): void {
    if (!center) return;
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const { xy } of rings) {
      for (let k = 0; k < xy.length; k++) {
        box[k % 2] = Math.min(box[k % 2]!, xy[k]!);
        box[(k % 2) + 2] = Math.max(box[(k % 2) + 2]!, xy[k]!);
      }
    }
    const [west, north, east, south] = box as [number, number, number, number];
    this.host.map.fit([toLongitude(west), toLatitude(south), toLongitude(east), toLatitude(north)], pointZoom);
  }

  clear(): void {
    const { map, grid } = this.host;
    const hadFocus = this.panel.contains(document.activeElement);
    this.turn++;
    this.current = null;
    this.panel.hidden = true;
    this.panel.replaceChildren();
    map.select(null);
    grid.select(null, null);
    if (hadFocus) map.focus();
  }
}
