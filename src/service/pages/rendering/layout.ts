/** The frame of every page. */
import { basePath } from "../../http/public-url.js";
import type { HtmlPage, PageContext } from "../page-context.js";
import { isolateName } from "./format.js";
import { type Html, html } from "./html.js";
import { renderNotice } from "./notice.js";

/** Attributes that hold an address of the site itself: what people wrote stands in none of them. */
const rootRelativeUrl = /(?<= (?:href|action|src|data-features|data-library|data-worker|data-land)=")(?=\/)/g;

/**
 * Templates name addresses of the site from its root, such as `href="/maps"`. Where it lies under a path of its host,
 * that is put before them. Texts of people do not look like it: their quotation marks are escaped.
 */
const prefixBasePath = (document: string, path: string): string =>
  path === "" ? document : document.replace(rootRelativeUrl, path);

export function renderLayout(page: HtmlPage, visit: PageContext): string {
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
${renderBanner(visit)}
<main id="content" tabindex="-1">
${renderNotice(visit.notice, visit.baseUrl)}
${page.body}
</main>
</body>
</html>
`;
  return prefixBasePath(document.toString(), basePath(visit.site.publicUrl));
}

function renderBanner(visit: PageContext): Html {
  const { visitor } = visit;
  return html`<header class="banner">
<a class="brand" href="/">geoferry</a>
${
  visitor &&
  html`<nav aria-label="Main"><ul class="menu">${renderMenuLink("/maps", "Maps", visit)}${renderMenuLink("/profile", "Profile", visit)}</ul></nav>
<form class="leave" method="post" action="/sign-out">${visit.formToken()}<span class="who">${isolateName(visitor.email)}</span> <button class="plain">Sign out</button></form>`
}
</header>`;
}

function renderMenuLink(to: string, text: string, { path }: PageContext): Html {
  const inside = path === to || path.startsWith(`${to}/`) || path.startsWith(`${to}?`);
  const current = path === to ? html` aria-current="page"` : inside && html` aria-current="true"`;
  return html`<li><a href="${to}"${current}>${text}</a></li>`;
}
