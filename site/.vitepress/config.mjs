// The site: which pages there are, what is beside them, and where links lead.
import fs from "node:fs";
import path from "node:path";
import { defineConfig } from "vitepress";
import { checkAnchors, forge, links, slug } from "./links.mjs";

const pages = path.resolve(import.meta.dirname, "../pages");

// titleOf is the first heading of a page.
const titleOf = (page) => fs.readFileSync(path.join(pages, page), "utf8").match(/^# (.+)$/m)[1];

// sidebar has the pages of docs/README.md in its order: a group for each heading, an item for each link to a page.
function sidebar() {
  const index = fs.readFileSync(path.join(pages, "docs/README.md"), "utf8");
  const groups = index.split(/^## /m).slice(1).map((part) => {
    const found = [...part.matchAll(/\]\(([^()\s#]+\.md)\)/g)].map((m) => path.join("docs", m[1]));
    return {
      text: part.slice(0, part.indexOf("\n")),
      collapsed: false,
      items: found.map((page) => ({ text: titleOf(page), link: "/" + page.replace(/README\.md$/, "index.md") })),
    };
  });
  return [{ text: "mcpotel", link: "/" }, { text: "All pages", link: "/docs/" }, ...groups];
}

export default defineConfig({
  title: "mcpotel",
  description: "An MCP client and server for Go with OpenTelemetry built in: every tool call is a trace.",
  head: [["link", { rel: "icon", href: "data:," }]], // no file, or browsers ask for one
  base: process.env.SITE_BASE || "/",
  srcDir: "pages",
  outDir: "dist",
  cacheDir: "cache",
  ignoreDeadLinks: "localhostLinks",
  rewrites: (page) => page.replace(/README\.md$/, "index.md"),
  markdown: { config: links(pages), anchor: { slugify: slug }, languageAlias: { promql: "sql", trace: "log", mermaid: "log" } },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Getting started", link: "/docs/guides/getting-started" },
      { text: "Telemetry", link: "/docs/telemetry" },
      { text: "Changelog", link: "/CHANGELOG" },
    ],
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    socialLinks: [{ icon: "github", link: forge }],
  },
  buildEnd: (site) => checkAnchors(site.outDir, site.site.base),
});
