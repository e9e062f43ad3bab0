/** The feature that was chosen on the map, and what is said of it. */
import type { Map as DrawnMap } from "maplibre-gl";
import type { WireFeature } from "../../../remote/wire.js";
import { placeText, propertyTexts, titleOfFeature } from "../feature-text.js";

export class Selection {
  readonly #map: DrawnMap;
  readonly #features: readonly WireFeature[];
  readonly #panel: HTMLElement;
  #chosen: number | null = null;

  /** A feature's place in `features` is its id on the map. */
  constructor(map: DrawnMap, features: readonly WireFeature[], panel: HTMLElement) {
    this.#map = map;
    this.#features = features;
    this.#panel = panel;
  }

  /** The one that comes after the chosen one; none where there are none. */
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

  /** Everything that people wrote goes in as text. */
  #described(feature: WireFeature): HTMLElement[] {
    const facts = element("dl", "");
    facts.className = "facts";
    for (const [name, value] of propertyTexts(feature.properties)) {
      facts.append(element("dt", name), element("dd", value));
    }
    const id = element("dd", "");
    id.className = "quiet";
    id.append(element("code", feature.id));
    facts.append(element("dt", "id"), id);
    const place = element("p", placeText(feature.geometry));
    place.className = "quiet";
    const close = element("button", "Close");
    close.className = "plain";
    close.addEventListener("click", () => {
      this.choose(null);
      this.#map.getCanvas().focus();
    });
    const head = document.createElement("header");
    head.append(element("h3", titleOfFeature(feature)), close);
    return [head, place, facts];
  }
}

export function element(tag: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  made.dir = "auto";
  return made;
}
