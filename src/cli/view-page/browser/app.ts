/** The page: connects the list of layers, the map, the table and the panels. */
import type { ColorChoice, ViewInfo, ViewSource } from "../../../view/protocol.js";
import { Cursor } from "./cursor.js";
import { announce, countOf, find, groupDigits, make, messageOf } from "./dom.js";
import type { Point } from "./map/camera.js";
import type { Land } from "./map/ground.js";
import { MapView } from "./map/map-view.js";
import type { TileStatistics } from "./map/tile-layer.js";
import { onSchemeChange } from "./palette.js";
import { analysisOf, renderFields, renderSummary } from "./panels/field-panel.js";
import { renderLayers } from "./panels/layer-list.js";
import { countMessages, renderReport } from "./panels/report-panel.js";
import { renderScale } from "./scale.js";
import { Selection } from "./selection.js";
import { colorsOf, type LayerState, newLayer, type PageState } from "./state.js";
import { isNumeric } from "./table/cell-text.js";
import { Grid } from "./table/grid.js";
import { Tabs } from "./tabs.js";

/** The greatest zoom for a layer without extent. */
const pointZoom = 15;

export class App {
  private readonly state: PageState;
  private readonly map: MapView;
  private readonly grid: Grid;
  private readonly cursor: Cursor;
  private readonly tabs = new Tabs(() => this.renderTab());
  private readonly selection: Selection;
  /** Counts requests, so that a late answer does not replace a newer one. */
  private turn = 0;
  private pointer: Point | null = null;

  constructor(
    view: ViewInfo,
    private readonly source: ViewSource,
    land: Land,
  ) {
    const layers = view.layers.map(newLayer);
    this.state = { view, layers, active: layers[0]!, analysis: null };
    this.map = new MapView(find("map"), source, land, view.basemap, {
      onPick: (point) => void this.selection.pick(point),
      onHover: (point) => {
        this.pointer = point;
        void this.cursor.show(point);
      },
      onFrame: (isComplete) => this.onFrame(isComplete),
    });
    const activeCrs = () => (view.isFile ? null : this.state.active);
    this.cursor = new Cursor(find("cursor"), source, this.map.camera, activeCrs);
    this.grid = new Grid(find("grid"), source, {
      onSelect: (row) => void this.selection.selectRow(row),
      onOpen: (row) => void this.selection.openRow(row),
      onSort: (field) => void this.sort(field),
      onError: (error) => this.showError(messageOf(error)),
      summaryOf: (field) => this.summaryOf(field),
    });
    const { state, map, grid } = this;
    this.selection = new Selection({
      state,
      map,
      grid,
      source,
      filters: () => this.visibleLayers().map(({ id, query }) => ({ layer: id, where: query.where })),
      activate: (layer) => this.activate(layer),
      showError: (text) => this.showError(text),
    });
    this.listen();
  }

  start(): void {
    const { basemap, generalized } = this.state.view;
    if (basemap !== null) find("credit").textContent = new URL(basemap).host;
    find("note").hidden = generalized.length === 0;
    find("note").textContent = generalized.join(" ");
    const first = this.state.layers.find(({ info }) => info.role === "data") ?? this.state.layers[0];
    if (!first) {
      find("workspace").hidden = true;
      find("nothing").hidden = false;
      renderReport(find("nothing-report"), this.state, () => {});
      return;
    }
    // On a phone the list would leave no room for the map.
    if (matchMedia("(max-width: 52rem)").matches) find<HTMLDetailsElement>("side").open = false;
    this.applyOwnColors();
    this.zoomToAll();
    this.updateMap();
    this.activate(first);
    void this.source.analysis().then(
      (analysis) => this.onAnalysis(analysis),
      (error: unknown) => this.onAnalysis({ layers: [], problems: null, error: messageOf(error) }),
    );
  }

  private listen(): void {
    find("zoom-in").addEventListener("click", () => this.map.zoomBy(1));
    find("zoom-out").addEventListener("click", () => this.map.zoomBy(-1));
    find("zoom-all").addEventListener("click", () => this.zoomToAll());
    find<HTMLFormElement>("filter-form").addEventListener("submit", (event) => {
      event.preventDefault();
      void this.filter(find<HTMLInputElement>("filter").value);
    });
    find("filter-clear").addEventListener("click", () => {
      find<HTMLInputElement>("filter").value = "";
      void this.filter("");
      find("filter").focus();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.selection.isOpen) this.selection.clear();
      else if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
        event.preventDefault();
        this.tabs.choose("table");
        find("filter").focus();
      }
    });
    onSchemeChange(() => {
      this.updateMap();
      this.renderList();
    });
  }

  // ---- layers ----

  private renderList(): void {
    renderLayers(find("layers"), this.state, {
      onActivate: (layer) => this.activate(layer),
      onToggle: (layer) => {
        layer.isVisible = !layer.isVisible;
        this.updateMap();
      },
      onZoom: (layer) => layer.info.box && this.map.fit(layer.info.box, pointZoom),
      onColor: (layer, choice) => void this.color(layer, choice),
    });
  }

  private activate(layer: LayerState): void {
    this.state.active = layer;
    find<HTMLInputElement>("filter").value = layer.query.where ?? "";
    this.showFilterError(null);
    this.renderList();
    this.showTable();
    this.renderTab();
    void this.cursor.show(this.pointer);
  }

  /** Layers whose features have colors are shown in them. */
  private applyOwnColors(): void {
    for (const layer of this.state.layers)
      if (layer.info.ownColors) void this.color(layer, { field: 0, method: "own" });
  }

  private async color(layer: LayerState, choice: ColorChoice | null): Promise<void> {
    layer.color = choice;
    layer.legend = null;
    if (choice) {
      try {
        const legend = await this.source.legend(layer.id, choice);
        if (layer.color !== choice) return;
        layer.legend = legend;
      } catch (error) {
        layer.color = null;
        this.showError(messageOf(error));
      }
    }
    this.renderList();
    this.updateMap();
  }

  private colorBy(field: number): void {
    const layer = this.state.active;
    const method = isNumeric(layer.info.fields[field]!.type) ? "quantiles" : "values";
    void this.color(layer, { field, method });
    announce(`Colored by ${layer.info.fields[field]!.name}`);
  }

  private visibleLayers(): LayerState[] {
    const shown = this.state.layers.filter(({ isVisible, info }) => isVisible && info.located > 0);
    // Points over lines over areas, and problems over all.
    const rank = ({ info }: LayerState) =>
      info.role !== "data"
        ? 0
        : info.geometryTypes.some((type) => /Polygon/.test(type))
          ? 3
          : info.geometryTypes.some((type) => /Line/.test(type))
            ? 2
            : 1;
    return shown.sort((a, b) => rank(a) - rank(b) || a.id - b.id);
  }

  private updateMap(): void {
    this.map.setLayers(
      this.visibleLayers().map((layer) => ({
        layer: layer.id,
        where: layer.query.where,
        color: layer.legend ? layer.color : null,
        colors: colorsOf(layer),
        ring: MapView.ringColor,
        hasShapes: layer.info.geometryTypes.some((type) => !/Point/.test(type)),
      })),
    );
  }

  private zoomToAll(): void {
    const boxes = this.visibleLayers().flatMap(({ info }) => (info.box ? [info.box] : []));
    if (boxes.length === 0) return;
    const merged = boxes.reduce((a, b) => [
      Math.min(a[0], b[0]),
      Math.min(a[1], b[1]),
      Math.max(a[2], b[2]),
      Math.max(a[3], b[3]),
    ]);
    this.map.fit(merged, pointZoom);
  }

  // ---- table ----

  private showTable(): void {
    const { info, query, counts, id } = this.state.active;
    this.grid.show({
      layer: id,
      label: `Features of ${info.name}`,
      fields: info.fields,
      hasIds: info.hasIds,
      query,
      rows: counts.rows,
      layerRows: info.rows,
    });
    void this.selection.revealInTable();
    this.describeTable();
  }

  private describeTable(): void {
    const { counts, info, query } = this.state.active;
    const fields = info.fields.length > 100 ? ` · the first 100 of ${groupDigits(info.fields.length)} fields` : "";
    const of = query.where === null ? "" : ` of ${groupDigits(info.rows)}`;
    find("table-status").textContent = `${countOf(counts.rows, "feature")}${of}${fields}`;
    find("no-rows").hidden = counts.rows > 0;
    find("no-rows").textContent =
      query.where === null ? "This layer has no features." : "No feature meets the condition.";
  }

  private async filter(text: string): Promise<void> {
    const layer = this.state.active;
    const where = text.trim() === "" ? null : text.trim();
    const turn = ++this.turn;
    find("filter-form").setAttribute("aria-busy", "true");
    try {
      const counts = await this.source.count({ layer: layer.id, where });
      if (turn !== this.turn) return;
      layer.query = { ...layer.query, where };
      layer.counts = counts;
      this.showFilterError(null);
      this.renderList();
      this.showTable();
      this.updateMap();
      announce(`${countOf(counts.rows, "feature")} of ${groupDigits(layer.info.rows)} shown`);
    } catch (error) {
      if (turn === this.turn) this.showFilterError(messageOf(error));
    } finally {
      find("filter-form").removeAttribute("aria-busy");
    }
  }

  private showFilterError(text: string | null): void {
    find("filter-error").textContent = text ?? "";
    find("filter-error").hidden = text === null;
    if (text === null) find("filter").removeAttribute("aria-invalid");
    else find("filter").setAttribute("aria-invalid", "true");
  }

  /** Ascending, descending, then in the order of the source. */
  private async sort(field: number): Promise<void> {
    const layer = this.state.active;
    const { sort } = layer.query;
    const next =
      sort?.field !== field ? { field, descending: false } : sort.descending ? null : { field, descending: true };
    layer.query = { ...layer.query, sort: next };
    this.showTable();
    const name = field < 0 ? "id" : layer.info.fields[field]!.name;
    announce(
      next ? `Sorted by ${name}, ${next.descending ? "descending" : "ascending"}` : "In the order of the source",
    );
  }

  private summaryOf(field: number): readonly HTMLElement[] {
    const { active, analysis } = this.state;
    const { name, type } = active.info.fields[field]!;
    const statistics = analysisOf(analysis, active)?.fields.find((one) => one.name === name) ?? null;
    return renderSummary(type, statistics);
  }

  // ---- statistics, reports, status ----

  private onAnalysis(analysis: NonNullable<PageState["analysis"]>): void {
    this.state.analysis = analysis;
    if (analysis.problems) this.state.layers.push(newLayer(analysis.problems, this.state.layers.length));
    document.body.dataset.analysis = "done";
    this.renderList();
    this.updateMap();
    this.grid.renderHead();
    this.renderTab();
  }

  private renderTab(): void {
    const { state } = this;
    const messages = countMessages(state);
    find("report-count").textContent = messages > 0 ? groupDigits(messages) : "";
    if (this.tabs.current === "fields")
      renderFields(find("panel-fields"), state.active, state.analysis, (field) => this.colorBy(field));
    if (this.tabs.current === "report")
      renderReport(find("panel-report"), state, (layer) => {
        this.activate(layer);
        this.tabs.choose("table");
      });
  }

  private onFrame(isComplete: boolean): void {
    renderScale(find("scale"), this.map.camera.metresPerPixel);
    document.body.dataset.map = isComplete ? "drawn" : "drawing";
    find("loading").hidden = isComplete;
    if (!isComplete || this.state.layers.length === 0) return;
    void this.selection.refine();
    const found = this.map.statisticsOf(this.state.active.id);
    find("drawn").textContent = found ? drawnText(found) : "";
    if (!this.pointer) void this.cursor.show(null);
  }

  private showError(text: string): void {
    const box = make("p", { class: "problem", role: "alert" }, text);
    find("errors").replaceChildren(box);
    setTimeout(() => box.remove(), 12_000);
  }
}

/** What the map shows of the active layer: features that would lie on each other are one dot. */
function drawnText({ features, marks, omitted }: TileStatistics): string {
  if (features === 0) return "";
  const more = omitted > 0 ? `, without ${groupDigits(omitted)} small ones` : "";
  const drawn = marks < features ? ` drawn as ${groupDigits(marks)}` : "";
  return `${countOf(features, "feature")}${drawn}${more}`;
}
