import type { HtmlPage } from "../page-context.js";
import { html } from "./html.js";

/** Ends a request with an error page. */
export class PageError extends Error {
  override readonly name = "PageError";
  readonly status: number;
  readonly title: string;

  constructor(status: number, title: string, message: string) {
    super(message);
    this.status = status;
    this.title = title;
  }
}

export const pageNotFound = (): PageError =>
  new PageError(404, "Page not found", "The page does not exist, or it is private and belongs to another account.");

export const notMapOwner = (): PageError =>
  new PageError(403, "Only the owner can change this map", "You can read the map, but not change it.");

export const csrfRejected = (): PageError =>
  new PageError(
    403,
    "The form was rejected",
    "The form expired, or was not sent from this site. Nothing was changed. Reload the page and fill in the form again.",
  );

export const invalidPageRequest = (message: string): PageError => new PageError(400, "Invalid address", message);

/** Error page for errors of the server that only have a status. */
export function pageErrorForStatus(status: number): PageError {
  if (status === 404) return pageNotFound();
  if (status === 413)
    return new PageError(413, "Form too large", "Nothing was changed. Shorten the text and submit the form again.");
  if (status === 503)
    return new PageError(503, "Service unavailable", "The service cannot reach its database. Try again in a minute.");
  if (status < 500)
    return new PageError(status, "Invalid request", "Nothing was changed. Reload the page and try again.");
  return new PageError(
    500,
    "Internal error",
    "The service failed to handle the request; the change may not have been saved. Reload the page to check.",
  );
}

export function renderErrorPage(pageError: PageError, requestId: string): HtmlPage {
  const reference =
    pageError.status >= 500 &&
    html`<p class="quiet">Request id for the operator of the service: <code>${requestId}</code></p>`;
  return {
    kind: "page",
    status: pageError.status,
    title: pageError.title,
    body: html`<h1>${pageError.title}</h1><p>${pageError.message}</p>${reference}<p><a href="/">Go to the start page</a></p>`,
  };
}
