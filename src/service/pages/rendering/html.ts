/** Markup, made by `html` alone: whatever else stands in a template is text and stays text. */
class EscapedMarkup {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/** Escaped markup. There is no other way to it than the tag `html`. */
export type Html = EscapedMarkup;

/** What a template takes: text is escaped, markup is not; false, null and undefined are nothing. */
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

/** A value may stand in an element or in an attribute within quotes: `<a href="${address}">${name}</a>`. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Html {
  return new EscapedMarkup(strings.reduce((text, string, at) => text + escapeContent(values[at - 1]) + string));
}
