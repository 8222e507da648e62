// Where the links of pages lead: to other pages on the site, and to all other files of the repository on the forge, where
// the pages are read as well.
import fs from "node:fs";
import path from "node:path";

export const forge = "https://github.com/mcpotel/mcpotel";

const repository = process.env.MCPOTEL_ROOT;

// slug is the name of a heading in links, by the forge's rule.
export const slug = (text) => text.replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-").toLowerCase();

// links returns what rewrites the links of a page while it is read.
export const links = (pages) => (md) => {
  md.core.ruler.push("links", ({ tokens, env }) => {
    const page = env.realPath ? path.relative(pages, env.realPath) : env.relativePath;
    for (const token of tokens.flatMap((t) => t.children ?? [])) {
      if (token.type === "link_open") token.attrSet("href", target(pages, page, token.attrGet("href")));
    }
  });
};

// target is where a link of a page leads.
function target(pages, page, href) {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [, file, anchor] = href.match(/^([^#]*)(#.*)?$/);
  const name = path.join(path.dirname(page), file);
  if (!fs.existsSync(path.join(repository, name))) throw new Error(`${page}: the link ${href} leads to no file`);
  if (file.endsWith(".md") && fs.existsSync(path.join(pages, name))) return file.replace(/README\.md$/, "index.md") + (anchor ?? "");
  const kind = fs.statSync(path.join(repository, name)).isDirectory() ? "tree" : "blob";
  return `${forge}/${kind}/main/${name}${anchor ?? ""}`;
}

// checkAnchors fails if a link on the site leads to a part of a page that is not there.
export function checkAnchors(dist, base) {
  const html = new Map(fs.readdirSync(dist, { recursive: true }).filter((f) => f.endsWith(".html"))
    .map((f) => [base + f, fs.readFileSync(path.join(dist, f), "utf8")]));
  const ids = new Map([...html].map(([url, text]) => [url, new Set([...text.matchAll(/ id="([^"]+)"/g)].map((m) => m[1]))]));
  const broken = [];
  for (const [url, text] of html) {
    for (const [, href] of text.matchAll(/ href="([^"]*#[^"]+)"/g)) {
      if (/^[a-z]+:/.test(href)) continue;
      const to = new URL(href, "http://site" + url);
      const file = to.pathname.endsWith("/") ? to.pathname + "index.html" : to.pathname.replace(/(\.html)?$/, ".html");
      if (!ids.get(file)?.has(decodeURIComponent(to.hash.slice(1)))) broken.push(`${url}: ${href}`);
    }
  }
  if (broken.length > 0) throw new Error(`links to parts that are not there:\n${broken.join("\n")}`);
}
