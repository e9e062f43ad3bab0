/** The selected feature, and the panel that shows its properties. */
import type { Map as DrawnMap } from "maplibre-gl";
import type { WireFeature } from "../../../remote/wire.js";
import { featureTitle, formatLocation, formatProperties } from "../maps/feature-text.js";

export class FeatureSelection {
  readonly #map: DrawnMap;
  readonly #features: readonly WireFeature[];
  readonly #panel: HTMLElement;
  #chosen: number | null = null;

  /** The index of a feature in `features` is its id on the map. */
  constructor(map: DrawnMap, features: readonly WireFeature[], panel: HTMLElement) {
    this.#map = map;
    this.#features = features;
    this.#panel = panel;
  }

  /** Selects the candidate after the selected one; clears the selection if there are no candidates. */
  chooseNext(candidates: readonly number[]): void {
    const before = this.#chosen === null ? -1 : candidates.indexOf(this.#chosen);
    this.choose(candidates[(before + 1) % candidates.length] ?? null);
  }

  choose(index: number | null): void {
    if (this.#chosen !== null) this.#mark(this.#chosen, false);
    this.#chosen = index;
    this.#panel.hidden = index === null;
    this.#panel.replaceChildren();
    if (index === null) return;
    this.#mark(index, true);
    this.#panel.append(...this.#described(this.#features[index]!));
    this.#panel.scrollTop = 0;
  }

  #mark(id: number, chosen: boolean): void {
    this.#map.setFeatureState({ source: "features", id }, { chosen });
  }

  /** User text is inserted as text, never as markup. */
  #described(feature: WireFeature): HTMLElement[] {
    const facts = createElement("dl", "");
    facts.className = "facts";
    for (const [name, value] of formatProperties(feature.properties)) {
      facts.append(createElement("dt", name), createElement("dd", value));
    }
    const id = createElement("dd", "");
    id.className = "quiet";
    id.append(createElement("code", feature.id));
    facts.append(createElement("dt", "id"), id);
    const place = createElement("p", formatLocation(feature.geometry));
    place.className = "quiet";
    const close = createElement("button", "Close");
    close.className = "plain";
    close.addEventListener("click", () => {
      this.choose(null);
      this.#map.getCanvas().focus();
    });
    const head = document.createElement("header");
    head.append(createElement("h3", featureTitle(feature)), close);
    return [head, place, facts];
  }
}

export function createElement(tag: string, text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.dir = "auto";
  return element;
}
