package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"adshard/internal/node/access"
)

// Root is the path that begins the paths of all pages.
const Root = "/console/"

// Config says what the pages are made from.
type Config struct {
	// API answers the port's calls, each according to the rights of its sender. The pages of a
	// balancer need the calls of admin.Control.
	API http.Handler
	// Gate decides who may do what; nil allows everything.
	Gate *access.Gate
	// Memory is the memory of the process.
	Memory *Memory
	// Currency is written beside amounts, unless it is "".
	Currency string
	// Balancer says that the port has the calls of a balancer.
	Balancer bool
	// Data says that the port has the calls for data.
	Data bool
	// Search answers /v1/search and /v1/explain as a master's port for queries does. It is nil if
	// the process has no master.
	Search http.Handler
}

// Memory holds what the pages of a process remember, whichever balancer leads.
type Memory struct {
	// Sessions are the sessions of people who have signed in with a token.
	Sessions Sessions
	// History is the recent history of the ring.
	History History
}

// Console has the pages of an admin port.
type Console struct {
	cfg   Config
	pages map[string]*template.Template
}

// New returns the pages of a port.
func New(c Config) *Console { return &Console{c, parse(c.Currency)} }

// Routes returns what a port serves, by path and method.
func (c *Console) Routes() map[string]map[string]http.HandlerFunc {
	get := func(h http.HandlerFunc) map[string]http.HandlerFunc {
		return map[string]http.HandlerFunc{http.MethodGet: h}
	}
	all := map[string]map[string]http.HandlerFunc{
		Root:                   get(c.first),
		Root + "static/{name}": get(c.static),
		Root + "login":         {http.MethodPost: ofThisSite(c.login)},
		Root + "logout":        {http.MethodPost: ofThisSite(c.logout)},
	}
	if c.cfg.Balancer {
		all[Root+"overview"] = get(c.overview)
		all[Root+"balancing"] = get(c.balancing)
		all[Root+"slices"] = get(c.slices)
		all[Root+"slices/{slice}"] = get(c.slice)
		all[Root+"heat.png"] = get(c.heatmap)
		all[Root+"do/{action}"] = map[string]http.HandlerFunc{http.MethodPost: ofThisSite(c.act)}
	}
	if c.cfg.Data {
		all[Root+"data"] = get(c.advertisers)
		all[listsPage] = map[string]http.HandlerFunc{http.MethodGet: c.blocklists, http.MethodPost: ofThisSite(c.createList)}
		all[listsPage+"/{name}"] = map[string]http.HandlerFunc{http.MethodGet: c.blocklist, http.MethodPost: ofThisSite(c.changeList)}
		all[Root+"import"] = map[string]http.HandlerFunc{http.MethodGet: c.imports, http.MethodPost: ofThisSite(c.importFile)}
		all[Root+"data/{kind}/{id}"] = map[string]http.HandlerFunc{http.MethodGet: c.entity, http.MethodPost: ofThisSite(c.change)}
	}
	if c.cfg.Search != nil {
		all[Root+"query"] = get(c.query)
	}
	return all
}

// first redirects to the first page that the port has.
func (c *Console) first(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != Root:
		c.fail(w, r, http.StatusNotFound, "There is no such page.")
	case c.cfg.Balancer:
		http.Redirect(w, r, Root+"overview", http.StatusSeeOther)
	default:
		http.Redirect(w, r, Root+"query", http.StatusSeeOther)
	}
}

//go:embed static
var static embed.FS

// static serves the styles and the script.
func (c *Console) static(w http.ResponseWriter, r *http.Request) {
	secure(w)
	w.Header().Set("Cache-Control", "no-cache")
	name := r.PathValue("name")
	content, err := static.ReadFile("static/" + name)
	if err != nil {
		c.fail(w, r, http.StatusNotFound, "There is no such file.")
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(content)))
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}

// policy lets a page load only the port's own styles and script; pages have no inline ones.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// secure sets the headers of every answer.
func secure(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
