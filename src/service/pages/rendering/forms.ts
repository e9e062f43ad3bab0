import { Check } from "typebox/value";
import { MapName } from "../../maps/map-routes.js";
import { type Html, html } from "./html.js";

/** Error message by field name. */
export type FieldErrors = ReadonlyMap<string, string>;

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "email" | "password";
  readonly hint?: string;
  readonly value?: string;
  /** Whether the field may be empty. */
  readonly optional?: boolean;
  /** The autofill detail token (HTML, 4.10.18.7). */
  readonly autocomplete: string;
}

/** A field with its label, hint and error, linked for screen readers. */
export function renderField(field: Field, errors: FieldErrors): Html {
  const { name, label, hint } = field;
  const error = errors.get(name);
  const descriptions = [hint !== undefined && `${name}-hint`, error !== undefined && `${name}-error`]
    .filter(Boolean)
    .join(" ");
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${error !== undefined && html`<p class="error" id="${name}-error"><span class="unseen">Error: </span>${error}.</p>`}
    <input id="${name}" name="${name}" type="${field.type ?? "text"}" value="${field.value}" autocomplete="${field.autocomplete}" ${field.optional !== true && html`required`}
      ${field.type !== "password" && html`spellcheck="false" autocapitalize="none"`}
      ${descriptions !== "" && html`aria-describedby="${descriptions}"`} ${error !== undefined && html`aria-invalid="true"`}>
  </div>`;
}

/** Summary of errors above the form, with links to the fields; receives focus. */
export function renderErrorSummary(errors: FieldErrors): Html | null {
  if (errors.size === 0) return null;
  const items = [...errors].map(([name, message]) => html`<li><a href="#${name}">${message}</a></li>`);
  return html`<div class="problem" role="alert" aria-labelledby="problem" tabindex="-1" autofocus>
    <h2 id="problem">There is a problem</h2>
    <ul>${items}</ul>
  </div>`;
}

/** An error above a form that belongs to no field. */
export const renderFormError = (
  message: string,
): Html => html`<div class="problem" role="alert" aria-labelledby="problem" tabindex="-1" autofocus>
    <h2 id="problem">There is a problem</h2>
    <p>${message}</p>
  </div>`;

export const pageTitle = (title: string, errors: FieldErrors): string => (errors.size > 0 ? `Error: ${title}` : title);

/** Maximum length of a name, in characters (MapName). */
const maxNameLength = 200;

/** Reads and validates the field `name` of a form; `of` is the kind of object that is named. */
export function readName(form: URLSearchParams, of: string): { readonly name: string; readonly errors: FieldErrors } {
  const name = (form.get("name") ?? "").trim();
  const errors = new Map<string, string>();
  const problem = name === "" ? `Enter a name for the ${of}` : findNameProblem(name);
  if (problem !== null) errors.set("name", problem);
  return { name, errors };
}

/** Validates a name that is not empty; returns null if it is valid. */
export function findNameProblem(name: string): string | null {
  if ([...name].length > maxNameLength) return `Use at most ${maxNameLength} characters`;
  return Check(MapName, name) ? null : "Remove line breaks and control characters";
}
