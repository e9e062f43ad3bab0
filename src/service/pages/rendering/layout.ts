/** The layout shared by all pages. */
import { basePath } from "../../http/public-url.js";
import type { Notice } from "../notice.js";
import type { HtmlPage, PageContext } from "../page-context.js";
import { isolateName } from "./format.js";
import { type Html, html } from "./html.js";

/** Attributes that contain URLs of this site and never user text. */
const rootRelativeUrl = /(?<= (?:href|action|src|data-features|data-library|data-worker|data-land)=")(?=\/)/g;

/**
 * Prepends the path of the public URL to root-relative URLs such as `href="/maps"`. User text cannot match, since its
 * quotation marks are escaped.
 */
const prefixBasePath = (document: string, path: string): string =>
  path === "" ? document : document.replace(rootRelativeUrl, path);

export function renderLayout(page: HtmlPage, context: PageContext): string {
  const { assets } = context.services;
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
<a class="skip" href="#content">Skip to content</a>
${renderBanner(context)}
<main id="content" tabindex="-1">
${renderNotice(context.notice, context.baseUrl)}
${page.body}
</main>
</body>
</html>
`;
  return prefixBasePath(document.toString(), basePath(context.services.publicUrl));
}

function renderBanner(context: PageContext): Html {
  const { user } = context;
  return html`<header class="banner">
<a class="brand" href="/">geoferry</a>
${
  user &&
  html`<nav aria-label="Main"><ul class="menu">${renderMenuLink("/maps", "Maps", context)}${renderMenuLink("/profile", "Profile", context)}</ul></nav>
<form class="leave" method="post" action="/sign-out">${context.formToken()}<span class="who">${isolateName(user.email)}</span> <button class="plain">Sign out</button></form>`
}
</header>`;
}

function renderMenuLink(to: string, text: string, { path }: PageContext): Html {
  const inside = path === to || path.startsWith(`${to}/`) || path.startsWith(`${to}?`);
  const current = path === to ? html` aria-current="page"` : inside && html` aria-current="true"`;
  return html`<li><a href="${to}"${current}>${text}</a></li>`;
}

/** The message of the previous page. A new client secret is shown only here. */
function renderNotice(notice: Notice | null, baseUrl: string): Html | null {
  if (notice === null) return null;
  if (notice.kind === "done") return html`<div class="notice" role="status"><p>${notice.text}</p></div>`;
  return html`<section class="notice" aria-labelledby="new-credential">
<h2 id="new-credential">New credential: ${isolateName(notice.name)}</h2>
<p><strong>Copy the secret now.</strong> It is shown only once; the service does not store it.</p>
<dl class="facts">
<dt>Client id</dt><dd><code>${notice.clientId}</code></dd>
<dt>Client secret</dt><dd><code>${notice.clientSecret}</code></dd>
</dl>
<p>To use the credential with the geoferry command, set:</p>
<pre tabindex="0" aria-label="Variables for the command line"><code>export GEOFERRY_URL=${baseUrl}
export GEOFERRY_CLIENT_ID=${notice.clientId}
export GEOFERRY_CLIENT_SECRET=${notice.clientSecret}</code></pre>
</section>`;
}
