/** Colors of layers and classes in the color scheme of the reader. */
import type { ColorChoice, ColorClass } from "../../../view/protocol.js";
import { categories, others, problems, sequence } from "../palette-colors.js";

export type Rgb = readonly [red: number, green: number, blue: number];

const dark = matchMedia("(prefers-color-scheme: dark)");

type Scheme = keyof typeof problems;

export const scheme = (): Scheme => (dark.matches ? "dark" : "light");

export const onSchemeChange = (listener: () => void): void => dark.addEventListener("change", listener);

/** The color of a layer. */
export function layerColor(index: number, isProblem: boolean): string {
  const colors = categories[scheme()];
  return isProblem ? problems[scheme()] : colors[index % colors.length]!;
}

/** The colors of the classes of a legend. The last two classes are other values and no value. */
export function classColors(legend: readonly ColorClass[], choice: ColorChoice): string[] {
  const own = legend.length - 2;
  const colors: readonly string[] = choice.method === "values" ? categories[scheme()] : sequence[scheme()];
  return legend.map(({ color }, at) => {
    if (at >= own) return others[scheme()][at - own]!;
    if (color !== undefined) return color;
    // Fewer classes are spread over the sequence.
    const spread = choice.method === "values" || own < 2 ? at : Math.round((at * (colors.length - 1)) / (own - 1));
    return colors[spread % colors.length]!;
  });
}

export function toRgb(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** A color of the style sheet. */
export const readColor = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
