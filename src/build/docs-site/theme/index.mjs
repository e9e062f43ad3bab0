import DefaultTheme from "vitepress/theme";
import MermaidDiagram from "./mermaid-diagram.mjs";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("MermaidDiagram", MermaidDiagram);
  },
};
