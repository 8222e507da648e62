// Package page renders this project's web pages in a common frame: one stylesheet, one small script, one set of
// headers.
//
// Start with [Parse], which parses a page's own templates, and [Templates.Write], which renders a template in the
// frame. The classes of the stylesheet are listed at the top of style.css.
//
// Details that may surprise:
//
//   - A page is a single document that contains its stylesheet and script, so no other path needs a handler. The
//     content security policy allows both by their hashes; other styles and scripts, such as those in data, do not run.
//     The policy forbids style attributes too, so elements that take their width from data are SVG.
//   - Any text may come from a peer. html/template escapes the text, and Write makes invisible characters visible. Each
//     page must bound the length of texts itself: see "cut" in [Parse].
//   - The script fetches the page again and replaces <main>, unless the tab is hidden. Open elements with an id stay
//     open. The page is complete without the script, and then updates when the user reloads it.
package page
