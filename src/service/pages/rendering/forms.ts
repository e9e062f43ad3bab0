import { Check } from "typebox/value";
import { MapName } from "../../maps/map-routes.js";
import { type Html, html } from "./html.js";

/** What is wrong with a form: a sentence for each field, by its name. */
export type FieldErrors = ReadonlyMap<string, string>;

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "email" | "password";
  readonly hint?: string;
  readonly value?: string;
  /** Whether it may be left empty. */
  readonly optional?: boolean;
  /** What the browser may fill in (HTML, 4.10.18.7). */
  readonly autocomplete: string;
}

/** A field with its label, hint and error, which screen readers say together. */
export function renderField(field: Field, errors: FieldErrors): Html {
  const { name, label, hint } = field;
  const error = errors.get(name);
  const said = [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`].filter(Boolean).join(" ");
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${error !== undefined && html`<p class="error" id="${name}-error"><span class="unseen">Error: </span>${error}.</p>`}
    <input id="${name}" name="${name}" type="${field.type ?? "text"}" value="${field.value}" autocomplete="${field.autocomplete}" ${field.optional !== true && html`required`}
      ${field.type !== "password" && html`spellcheck="false" autocapitalize="none"`}
      ${said !== "" && html`aria-describedby="${said}"`} ${error !== undefined && html`aria-invalid="true"`}>
  </div>`;
}

/** What is wrong, above the form, leading to the fields; read out first. */
export function renderErrorSummary(errors: FieldErrors): Html | null {
  if (errors.size === 0) return null;
  const items = [...errors].map(([name, message]) => html`<li><a href="#${name}">${message}</a></li>`);
  return html`<div class="problem" role="alert" aria-labelledby="problem" tabindex="-1" autofocus>
    <h2 id="problem">There is a problem</h2>
    <ul>${items}</ul>
  </div>`;
}

/** A sentence above a form that is about no field of it. */
export const renderFormError = (
  message: string,
): Html => html`<div class="problem" role="alert" aria-labelledby="problem" tabindex="-1" autofocus>
    <h2 id="problem">There is a problem</h2>
    <p>${message}</p>
  </div>`;

export const pageTitle = (title: string, errors: FieldErrors): string => (errors.size > 0 ? `Error: ${title}` : title);

/** Longest name, in characters (MapName). */
const maxNameLength = 200;

/** What a person typed as a name, of a map or of something else that has one, and what is wrong with it. */
export function readName(form: URLSearchParams, of: string): { readonly name: string; readonly errors: FieldErrors } {
  const name = (form.get("name") ?? "").trim();
  const errors = new Map<string, string>();
  const fault = name === "" ? `Enter a name for the ${of}` : findNameProblem(name);
  if (fault !== null) errors.set("name", fault);
  return { name, errors };
}

/** What is wrong with a name that is not empty; null for a good one. */
export function findNameProblem(name: string): string | null {
  if ([...name].length > maxNameLength) return `Use at most ${maxNameLength} characters`;
  return Check(MapName, name) ? null : "Use letters, digits and signs only";
}
