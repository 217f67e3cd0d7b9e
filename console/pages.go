package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"path"
)

//go:embed pages/*.html
var templates embed.FS

//go:embed assets
var assets embed.FS

// pages turns what is to be shown into HTML.
type pages struct {
	byName  map[string]*template.Template
	version string // of the assets, so that browsers may keep them
}

// newPages reads the templates. They are part of the program: a mistake in one is
// a panic, which every test would meet.
func newPages() *pages {
	layout := template.Must(template.New("layout.html").Funcs(templateFuncs()).ParseFS(templates,
		"pages/layout.html", "pages/lock_parts.html"))
	p := &pages{byName: make(map[string]*template.Template), version: versionOf(assets)}
	for _, name := range []string{
		"list", "transaction", "confirm", "locks", "lock", "lock_confirm", "lock_waits", "error",
	} {
		own := template.Must(template.Must(layout.Clone()).ParseFS(templates, "pages/"+name+".html"))
		p.byName[name] = own
	}
	return p
}

// versionOf identifies the content of files.
func versionOf(files fs.FS) string {
	sum := sha256.New()
	names, _ := fs.Glob(files, "assets/*") // the pattern is right
	for _, name := range names {
		content, _ := fs.ReadFile(files, name) // it is in memory
		sum.Write(content)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// asset answers with a style, a script or a picture.
func (p *pages) asset(w http.ResponseWriter, r *http.Request) {
	name := path.Join("assets", r.PathValue("file"))
	if _, err := fs.Stat(assets, name); err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=3600")
	http.ServeFileFS(w, r, assets, name) //nolint:gosec // an embedded file system has nothing else in it
}

// frame is what all pages have.
type frame struct {
	Title   string
	Section string // of the navigation
	Name    string
	Locks   bool
	Version string
	Page    any
}

// render answers with a page. It is made in memory first, so that a page is never
// cut in half by a mistake.
func (c *console) render(w http.ResponseWriter, status int, name string, f frame) {
	f.Name, f.Locks, f.Version = c.Name, c.Locks != nil, c.pages.version
	var b bytes.Buffer
	if err := c.pages.byName[name].Execute(&b, f); err != nil {
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // nobody is left to be told
}
