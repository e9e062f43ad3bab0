/** Finds integers in JSON by their digits, without regular expressions over long runs, which exhaust the stack of V8. */

const [quote, backslash, zero, nine] = [0x22, 0x5c, 0x30, 0x39];

/**
 * Replaces integers of at least `digits` digits outside of texts; those with a fraction or an exponent stay.
 * @returns the same text if there are none
 */
export function replaceLongIntegers(json: string, digits: number, replace: (integer: string) => string): string {
  const run = new RegExp(`\\d{${digits}}`, "g");
  let written = "";
  let copied = 0;
  let outside = 0;
  let nextQuote = -1;
  for (let match = run.exec(json); match; match = run.exec(json)) {
    const { index } = match;
    for (;;) {
      if (nextQuote < outside) nextQuote = indexOrEnd(json, outside);
      if (nextQuote > index) break;
      outside = endOfText(json, nextQuote);
    }
    if (outside > index) {
      run.lastIndex = outside;
      continue;
    }
    const end = endOfDigits(json, index + digits);
    run.lastIndex = end;
    const from = json[index - 1] === "-" ? index - 1 : index;
    if (/[.eE+\d]/.test(json[from - 1] ?? "") || /[.eE]/.test(json[end] ?? "")) continue;
    written += json.slice(copied, from) + replace(json.slice(from, end));
    copied = end;
  }
  return copied === 0 ? json : written + json.slice(copied);
}

function indexOrEnd(json: string, from: number): number {
  const at = json.indexOf('"', from);
  return at < 0 ? json.length : at;
}

/** The offset behind the closing quote of the text that begins at `at`. */
function endOfText(json: string, at: number): number {
  for (let i = at + 1; i < json.length; i++) {
    const unit = json.charCodeAt(i);
    if (unit === quote) return i + 1;
    if (unit === backslash) i++;
  }
  return json.length;
}

function endOfDigits(json: string, from: number): number {
  let at = from;
  for (let unit = json.charCodeAt(at); unit >= zero && unit <= nine; unit = json.charCodeAt(at)) at++;
  return at;
}
