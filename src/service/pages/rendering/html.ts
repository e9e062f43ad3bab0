/** Markup created by the `html` tag, which escapes all other values. */
class EscapedMarkup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/** Escaped markup; only the tag `html` creates it. */
export type Html = EscapedMarkup;

/** Values in a template: text is escaped, markup is not; false, null and undefined produce nothing. */
export type Content = Html | string | number | false | null | undefined | readonly Content[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeContent(content: Content): string {
  if (content === false || content === null || content === undefined) return "";
  if (content instanceof EscapedMarkup) return content.toString();
  if (Array.isArray(content)) return content.map(escapeContent).join("");
  return String(content).replace(/[&<>"']/g, (character) => entities[character]!);
}

/** Values may be placed in elements and in quoted attributes: `<a href="${address}">${name}</a>`. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new EscapedMarkup(strings.reduce((text, string, at) => text + escapeContent(values[at - 1]) + string));
}
