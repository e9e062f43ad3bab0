import type { HtmlPage } from "../page-context.js";
import { html } from "./html.js";

/** Ends a request with a page that says why. */
export class PageError extends Error {
  override readonly name = "PageFault";
  readonly status: number;
  readonly title: string;

  constructor(status: number, title: string, message: string) {
    super(message);
    this.status = status;
    this.title = title;
  }
}

export const pageNotFound = (): PageError =>
  new PageError(
    404,
    "Page not found",
    "There is nothing at this address, or it is private and belongs to somebody else.",
  );

export const notMapOwner = (): PageError =>
  new PageError(403, "Not yours to change", "Only the owner of a map may change it.");

export const csrfRejected = (): PageError =>
  new PageError(
    403,
    "The form was not taken",
    "It was open for too long, or was not sent from this site. Nothing was changed. Open the page again and fill it in once more.",
  );

export const invalidPageRequest = (message: string): PageError =>
  new PageError(400, "That address is not right", message);

/** The same for what the server itself finds wrong, which has nothing but a status. */
export function pageErrorForStatus(status: number): PageError {
  if (status === 404) return pageNotFound();
  if (status === 413)
    return new PageError(413, "Too much text", "The form held more than can be taken. Nothing was changed.");
  if (status === 503)
    return new PageError(503, "Not available", "The service cannot reach its data now. Try again in a minute.");
  if (status < 500)
    return new PageError(status, "The request was not taken", "Nothing was changed. Open the page again.");
  return new PageError(
    500,
    "Something went wrong",
    "This is a fault of the service. What was asked for may not have been done.",
  );
}

export function renderErrorPage(fault: PageError, requestId: string): HtmlPage {
  const reference =
    fault.status >= 500 &&
    html`<p class="quiet">Whoever runs the service finds it in the log as <code>${requestId}</code>.</p>`;
  return {
    kind: "page",
    status: fault.status,
    title: fault.title,
    body: html`<h1>${fault.title}</h1><p>${fault.message}</p>${reference}<p><a href="/">Go to the start</a></p>`,
  };
}
