import { Tag } from "../vocabulary.js";
import type { DocumentVisitor } from "./document-visitor.js";

/** Reads a shared StyleMap: the styles that it refers to. */
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

  /** Begins an element in it. @returns whether its text is wanted, or it is a style within the map */
  open(code: number): "text" | "style" | null {
    if (code === Tag.Pair) this.beginPair();
    if (code === Tag.key || code === Tag.styleUrl) return "text";
    return code === Tag.Style && this.key === "normal" ? "style" : null;
  }

  /** Ends an element in it. @param text its text, where it was wanted */
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
