/** Colors of layers and classes, in light and dark. Each has a contrast of at least 3 to land and sea. */
import type { ColorChoice, ColorClass } from "../../../view/protocol.js";

export type Rgb = readonly [red: number, green: number, blue: number];

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Told apart with color vision deficiencies, too, as far as nine colors can be. */
const categories = {
  light: ["#0b6aa8", "#c2500a", "#12805c", "#b03a86", "#8a6d00", "#2f7fb8", "#6a51a3", "#8c4a2f", "#557a14"],
  dark: ["#6db3f2", "#ff9e57", "#4fd1a5", "#f08cc8", "#e3c04d", "#8fd9ff", "#b39df0", "#d19a7d", "#b5d45e"],
} as const;

/** From few to many. */
const sequence = {
  light: ["#c98a12", "#d9662f", "#c23a63", "#863083", "#432a78"],
  dark: ["#7a6fd6", "#b765c9", "#ee6f92", "#fb9e63", "#fbe37a"],
} as const;

const others = { light: ["#6d767d", "#8d959b"], dark: ["#98a2aa", "#7f8a92"] } as const;
const problems = { light: "#b3261e", dark: "#ff8a7d" } as const;

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
