// Package page is the frame of this project's pages: one stylesheet, one small script, one set of headers.
//
// Start with [Parse], which parses a page's own templates, and [Templates.Write], which renders a template in the
// frame. The classes of the stylesheet are listed at the top of style.css.
//
// What may surprise:
//
//   - A page is a single document. It contains its stylesheet and script, which the policy allows by their hashes: no
//     other path needs a handler, and a style or script in data does not run. Style attributes are not allowed either,
//     so elements whose width depends on data are SVG.
//   - Any text may come from a peer. html/template escapes it, and Write makes invisible characters visible everywhere.
//     Each page must bound the length of text itself, see "cut" in [Parse].
//   - The script fetches the page again and replaces <main>, unless the tab is hidden. Open elements stay open, by
//     their ids. Without the script the page is complete; reloading updates it.
package page
