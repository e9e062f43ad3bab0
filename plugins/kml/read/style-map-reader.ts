import { Tag } from "../vocabulary.js";
import type { DocumentVisitor } from "./document-visitor.js";

/** Reads a StyleMap that is shared: which styles it leads to. */
export class StyleMapReader {
  private id = "";
  private key = "normal";
  private url = "";

  constructor(private readonly findings: DocumentVisitor | null) {}

  begin(id: string): void {
    this.id = id;
    this.beginPair();
  }

  private beginPair(): void {
    this.key = "normal";
    this.url = "";
  }

  /** An element in it begins: whether its text is wanted, or it is the style that the map has for itself. */
  open(code: number): "text" | "style" | null {
    if (code === Tag.Pair) this.beginPair();
    if (code === Tag.key || code === Tag.styleUrl) return "text";
    return code === Tag.Style && this.key === "normal" ? "style" : null;
  }

  /** An element in it ends. @param text that of it, where it was wanted */
  close(code: number, text: string | null): void {
    const { findings } = this;
    if (text !== null && code === Tag.key) {
      this.key = text;
      if (text === "highlight") findings?.leftOut("highlight");
    } else if (text !== null && code === Tag.styleUrl) this.url = text;
    else if (code === Tag.Pair && this.url !== "") {
      const target = this.url.replace(/^#/, "");
      if (this.key === "normal") findings?.styleAlias(this.id, target);
      else findings?.styleHighlight(this.id, target);
    }
  }
}
