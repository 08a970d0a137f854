package console

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"time"

	"adshard/internal/node/access"
)

//go:embed templates
var templates embed.FS

// page has the data of every page.
type page struct {
	Title string
	At    string // the path of this page, for the navigation
	// Balancer, Data and Query say which pages the port has.
	Balancer, Data, Query bool
	// Who is the identity that has signed in or has shown a certificate, or "" if it is unknown. Session
	// says that the viewer can sign out.
	Who     string
	Session bool
	// Operator says that the viewer may change things.
	Operator bool
	// Currency is that of amounts, or "" if it is not known.
	Currency string
	// Refresh is the number of seconds after which the page is fetched again; 0 means never.
	Refresh int
	Now     string
	// Done says what a form has done. Trouble says why the page cannot be shown, or why a form was
	// refused.
	Done, Trouble string
	// Content is the data of this kind of page.
	Content any
}

// show writes a page from the template with this name.
func (c *Console) show(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	p.At, p.Now = r.URL.Path, time.Now().UTC().Format("15:04:05 UTC")
	p.Balancer, p.Data, p.Query = c.cfg.Balancer, c.cfg.Data, c.cfg.Search != nil
	if who := access.CallerOf(r.Context()); who.Known() {
		p.Who = who.String()
		_, p.Session = c.cfg.Memory.Sessions.Caller(r, c.cfg.Gate)
	}
	p.Operator, p.Currency = c.may(r.Context()), c.cfg.Currency
	secure(w)
	var text bytes.Buffer
	if err := c.pages[name].ExecuteTemplate(&text, "frame.html", p); err != nil {
		http.Error(w, "the page cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}

// parse returns the templates by name, each with the frame around it. They write amounts in a currency, or with none if
// it is "".
func parse(currency string) map[string]*template.Template {
	all := make(map[string]*template.Template)
	for _, name := range []string{"overview", "balancing", "slices", "slice", "data", "import", "blocklists", "blocklist", "query", "signin", "failed"} {
		all[name] = template.Must(template.New("").Funcs(funcs(currency)).ParseFS(templates, "templates/frame.html", "templates/parts.html", "templates/"+name+".html"))
	}
	return all
}

// fail shows a page that says what went wrong.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, status int, trouble string) {
	c.show(w, r, status, "failed", page{Title: http.StatusText(status), Trouble: trouble})
}

// refusedBy shows a page with the error of a call.
func (c *Console) refusedBy(w http.ResponseWriter, r *http.Request, err error) {
	status := statusOf(err)
	c.show(w, r, status, "failed", page{Title: http.StatusText(status), Trouble: err.Error(), Refresh: refresh})
}

// Refuse answers a viewer who may not see a page, with the form for a token or with the reason.
// `unknown` says that the request shows no known identity.
func (c *Console) Refuse(w http.ResponseWriter, r *http.Request, unknown bool, why string) {
	if !unknown {
		c.fail(w, r, http.StatusForbidden, why)
		return
	}
	c.signIn(w, r, http.StatusUnauthorized, "")
}

// signIn shows the form for a token.
func (c *Console) signIn(w http.ResponseWriter, r *http.Request, status int, trouble string) {
	to := r.PostForm.Get("back")
	if r.Method == http.MethodGet {
		to = r.URL.RequestURI()
	}
	tokens := c.cfg.Gate != nil && c.cfg.Gate.Tokens != nil
	c.show(w, r, status, "signin", page{Title: "Sign in", Trouble: trouble, Content: struct {
		Back   string
		Tokens bool
	}{to, tokens}})
}

// refresh is the number of seconds after which a page that shows a state is fetched again. rarely is the
// number for pages for which the balancer goes through all items.
const (
	refresh = 5
	rarely  = 15
)
