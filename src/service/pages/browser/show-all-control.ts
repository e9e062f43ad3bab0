/** A map control that zooms to all features. */
import type { IControl } from "maplibre-gl";

const svgNamespace = "http://www.w3.org/2000/svg";
/** Four corners of a frame. */
const iconPath = "M5 9V5h4M15 5h4v4M19 15v4h-4M9 19H5v-4";

export class ShowAllControl implements IControl {
  readonly #group = document.createElement("div");

  constructor(showAll: () => void) {
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Show all features";
    button.setAttribute("aria-label", button.title);
    button.append(createIcon());
    button.addEventListener("click", showAll);
    this.#group.className = "maplibregl-ctrl maplibregl-ctrl-group";
    this.#group.append(button);
  }

  onAdd(): HTMLElement {
    return this.#group;
  }

  onRemove(): void {
    this.#group.remove();
  }
}

function createIcon(): SVGElement {
  const image = document.createElementNS(svgNamespace, "svg");
  image.setAttribute("viewBox", "0 0 24 24");
  image.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(svgNamespace, "path");
  path.setAttribute("d", iconPath);
  image.append(path);
  return image;
}
