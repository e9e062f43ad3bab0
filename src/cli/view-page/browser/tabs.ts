/** The tabs below the map (WAI-ARIA Authoring Practices, tabs with automatic activation), and the bar that moves their edge. */
import { find } from "./dom.js";

const names = ["table", "fields", "report"] as const;
export type TabName = (typeof names)[number];

const stepPixels = 32;

export class Tabs {
  current: TabName = "table";

  constructor(private readonly onChange: () => void) {
    for (const name of names) {
      const tab = find(`tab-${name}`);
      tab.addEventListener("click", () => this.choose(name));
      tab.addEventListener("keydown", (event) => {
        const change = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (change === 0) return;
        event.preventDefault();
        this.choose(names[(names.indexOf(this.current) + change + names.length) % names.length]!);
        find(`tab-${this.current}`).focus();
      });
    }
    listenToSplitter();
  }

  choose(name: TabName): void {
    this.current = name;
    for (const one of names) {
      const isChosen = one === name;
      find(`tab-${one}`).setAttribute("aria-selected", String(isChosen));
      find(`tab-${one}`).tabIndex = isChosen ? 0 : -1;
      find(`panel-${one}`).hidden = !isChosen;
    }
    find("filter-form").hidden = name !== "table";
    this.onChange();
  }
}

/** Sets the height of the lower part in pixels, within what the window has. */
function listenToSplitter(): void {
  const splitter = find("splitter");
  const lower = find("lower");
  const set = (height: number) => {
    const most = window.innerHeight - 160;
    const limited = Math.round(Math.max(90, Math.min(most, height)));
    lower.style.height = `${limited}px`;
    splitter.setAttribute("aria-valuenow", String(Math.round((100 * limited) / Math.max(1, most))));
  };
  splitter.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    splitter.setPointerCapture(event.pointerId);
    const bottom = lower.getBoundingClientRect().bottom;
    const move = ({ clientY }: PointerEvent) => set(bottom - clientY);
    splitter.addEventListener("pointermove", move);
    splitter.addEventListener("lostpointercapture", () => splitter.removeEventListener("pointermove", move), {
      once: true,
    });
  });
  splitter.addEventListener("keydown", (event) => {
    const change = event.key === "ArrowUp" ? stepPixels : event.key === "ArrowDown" ? -stepPixels : 0;
    if (change === 0) return;
    event.preventDefault();
    set(lower.offsetHeight + change);
  });
}
