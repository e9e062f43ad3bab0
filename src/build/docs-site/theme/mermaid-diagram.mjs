import { useData } from "vitepress";
import { defineComponent, h, onMounted, ref, watch } from "vue";

let diagrams = 0;

/** A diagram, drawn in the browser; its source until then, and where there is no JavaScript. */
export default defineComponent({
  props: { source: { type: String, required: true } },
  setup({ source }) {
    const text = decodeURIComponent(source);
    const svg = ref("");
    const { isDark } = useData();
    const draw = async () => {
      const { default: mermaid } = await import("mermaid");
      mermaid.initialize({ startOnLoad: false, theme: isDark.value ? "dark" : "neutral", securityLevel: "strict" });
      svg.value = (await mermaid.render(`diagram-${diagrams++}`, text)).svg;
    };
    onMounted(draw);
    watch(isDark, draw);
    return () =>
      svg.value ? h("div", { class: "diagram", innerHTML: svg.value }) : h("pre", { class: "diagram" }, text);
  },
});
