/** The frame of every page. */
import { basePath } from "../address.js";
import { type Html, html } from "./html.js";
import { noticeOf } from "./notice-view.js";
import type { Page, Visit } from "./visit.js";
import { named } from "./wording.js";

/** Attributes that hold an address of the site itself: what people wrote stands in none of them. */
const ownAddress = /(?<= (?:href|action|src|data-features|data-library|data-worker|data-land)=")(?=\/)/g;

/**
 * Templates name addresses of the site from its root, such as `href="/maps"`. Where it lies under a path of its host,
 * that is put before them. Texts of people do not look like it: their quotation marks are escaped.
 */
const underPath = (document: string, path: string): string =>
  path === "" ? document : document.replace(ownAddress, path);

export function layout(page: Page, visit: Visit): string {
  const { assets } = visit.site;
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${page.title} · geoferry</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${assets.address("icon.svg")}" type="image/svg+xml">
${page.head}<link rel="stylesheet" href="${assets.address("pages.css")}">
</head>
<body${page.wide && html` class="wide"`}>
<a class="skip" href="#content">Skip to the content</a>
${banner(visit)}
<main id="content" tabindex="-1">
${noticeOf(visit.notice, visit.baseUrl)}
${page.body}
</main>
</body>
</html>
`;
  return underPath(document.toString(), basePath(visit.site.publicUrl));
}

function banner(visit: Visit): Html {
  const { visitor } = visit;
  return html`<header class="banner">
<a class="brand" href="/">geoferry</a>
${
  visitor &&
  html`<nav aria-label="Main"><ul class="menu">${link("/maps", "Maps", visit)}${link("/profile", "Profile", visit)}</ul></nav>
<form class="leave" method="post" action="/sign-out">${visit.formToken()}<span class="who">${named(visitor.email)}</span> <button class="plain">Sign out</button></form>`
}
</header>`;
}

function link(to: string, text: string, { path }: Visit): Html {
  const inside = path === to || path.startsWith(`${to}/`) || path.startsWith(`${to}?`);
  const current = path === to ? html` aria-current="page"` : inside && html` aria-current="true"`;
  return html`<li><a href="${to}"${current}>${text}</a></li>`;
}
