// Package page is the frame of the pages that this project serves: one stylesheet, one small script, one set of
// headers.
//
// Start with [Parse], which reads a page's own templates, and [Templates.Write], which puts one of them into the frame.
// The stylesheet has classes for what pages are made of; style.css lists them at its top.
//
// What may surprise:
//
//   - A page is one document. Stylesheet and script stand in it, allowed by their hashes: there is nothing to mount
//     beside it, and a style or script that got in through data does not run. So there are no style attributes either:
//     what has a width from data is drawn as SVG.
//   - Whatever is printed may come from a peer. html/template escapes it, and Write makes every character visible that
//     is not, wherever it stands. Bounding its length is the page's own business, see "cut" in [Parse].
//   - The script fetches the page again and exchanges <main>, unless the tab is hidden. What is open, by its id, stays
//     open. Without script the page is complete, and reloading it is the way to see more.
package page
