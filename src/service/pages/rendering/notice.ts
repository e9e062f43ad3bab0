import type { Notice } from "../notice.js";
import { isolateName } from "./format.js";
import { type Html, html } from "./html.js";

/** What the page before left to be said; a new client secret, the only time that it is shown. */
export function renderNotice(notice: Notice | null, baseUrl: string): Html | null {
  if (notice === null) return null;
  if (notice.kind === "done") return html`<div class="notice" role="status"><p>${notice.text}</p></div>`;
  return html`<section class="notice" aria-labelledby="new-credential">
<h2 id="new-credential">New credential: ${isolateName(notice.name)}</h2>
<p><strong>Copy the secret now.</strong> It is shown this once; the service does not keep it.</p>
<dl class="facts">
<dt>Client id</dt><dd><code>${notice.clientId}</code></dd>
<dt>Client secret</dt><dd><code>${notice.clientSecret}</code></dd>
</dl>
<p>The command line takes them from its environment:</p>
<pre tabindex="0" aria-label="Variables for the command line"><code>export GEOFERRY_URL=${baseUrl}
export GEOFERRY_CLIENT_ID=${notice.clientId}
export GEOFERRY_CLIENT_SECRET=${notice.clientSecret}</code></pre>
</section>`;
}
