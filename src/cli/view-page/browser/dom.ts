/** Elements are made from text and properties only, so that nothing of the data becomes markup. */
type Child = Node | string | null | false | undefined;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | number | boolean | null | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== false && child !== undefined) element.append(child);
  return element;
}

/** A text of the data, which may be written from right to left. */
export const dataText = (text: string): HTMLElement => make("bdi", {}, text);

export function button(label: string, onClick: () => void, attributes: Readonly<Record<string, string>> = {}) {
  const made = make("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", onClick);
  return made;
}

export function find<E extends HTMLElement = HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

/** "5,000,000" */
export const groupDigits = (count: number): string => count.toLocaleString("en");

/** "1 feature", "2 features" */
export const countOf = (count: number, noun: string): string =>
  `${groupDigits(count)} ${noun}${count === 1 ? "" : "s"}`;

let announcement = 0;

/** Tells screen readers what happened. */
export function announce(text: string): void {
  const region = find("announcer");
  // A change of nothing is not read: the same sentence twice differs in a blank.
  region.textContent = announcement++ % 2 === 0 ? text : `${text}\u00a0`;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";
