import { defineComponent, h, onMounted, ref } from "vue";

let diagrams = 0;

/** A diagram, drawn in the browser; its source until then, and where there is no JavaScript. */
export default defineComponent({
  props: { source: { type: String, required: true } },
  setup({ source }) {
    const text = decodeURIComponent(source);
    const svg = ref("");
    onMounted(async () => {
      const { default: mermaid } = await import("mermaid");
      const theme = document.documentElement.classList.contains("dark") ? "dark" : "neutral";
      mermaid.initialize({ startOnLoad: false, theme, securityLevel: "strict" });
      svg.value = (await mermaid.render(`diagram-${diagrams++}`, text)).svg;
    });
    return () => (svg.value ? h("div", { class: "diagram", innerHTML: svg.value }) : h("pre", text));
  },
});
