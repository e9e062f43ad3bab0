import type { Notice } from "../notice.js";
import { isolateName } from "./format.js";
import { type Html, html } from "./html.js";

/** The message of the previous page. A new client secret is shown only here. */
export function renderNotice(notice: Notice | null, baseUrl: string): Html | null {
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
