package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
)

const listsPage = Root + "blocklists"

// listsContent has a page of block lists, and the form for a new one as it was sent.
type listsContent struct {
	Lists []api.BlocklistHead
	Next  string // the cursor of the next page, or "" if this is the last
	Form  listForm
}

// listContent has a block list, and the form for its entries as it was sent.
type listContent struct {
	api.Blocklist
	Path string // of the list's page
	Next string
	Form listForm
}

// listForm is a form with entries, as it was sent: each text has white space or commas between
// entries.
type listForm struct{ Name, Advertisers, Domains, Categories string }

func listFormOf(form url.Values) listForm {
	return listForm{strings.TrimSpace(form.Get("name")), form.Get("advertisers"), form.Get("domains"), form.Get("categories")}
}

// entries returns the entries of a form as the calls expect them. Errors: *refused.
func (f *listForm) entries() (*api.BlocklistEntries, error) {
	out := &api.BlocklistEntries{Domains: wordsOf(f.Domains), Categories: wordsOf(f.Categories)}
	for _, text := range wordsOf(f.Advertisers) {
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil || id == 0 {
			return nil, &refused{http.StatusBadRequest, strconv.Quote(text) + " is not an advertiser's number"}
		}
		out.Advertisers = append(out.Advertisers, id)
	}
	return out, nil
}

// wordsOf splits a text at white space and commas.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || strings.ContainsRune(" \t\r\n", r) })
}

func (c *Console) blocklists(w http.ResponseWriter, r *http.Request) {
	c.showLists(w, r, http.StatusOK, &listsContent{}, "")
}

func (c *Console) showLists(w http.ResponseWriter, r *http.Request, status int, l *listsContent, trouble string) {
	q := url.Values{"limit": {strconv.Itoa(shownItems)}}
	if at := r.URL.Query().Get("cursor"); at != "" {
		q.Set("cursor", at)
	}
	v := new(api.BlocklistList)
	if err := ask(c.cfg.API, r, http.MethodGet, "/v1/blocklists", q, nil, v); err != nil {
		c.refusedBy(w, r, err)
		return
	}
	l.Lists = v.Blocklists
	if v.Next != "" {
		l.Next = listsPage + "?" + url.Values{"cursor": {v.Next}}.Encode()
	}
	c.show(w, r, status, "blocklists", page{Title: "Block lists", Content: l, Done: listDone(r), Trouble: trouble})
}

// createList creates the block list that a form describes.
func (c *Console) createList(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		c.fail(w, r, http.StatusBadRequest, largeForm)
		return
	}
	f := listFormOf(r.PostForm)
	e, err := f.entries()
	if err == nil {
		body := api.NewBlocklist{Name: f.Name, Advertisers: e.Advertisers, Domains: e.Domains, Categories: e.Categories, BlockUncategorised: r.PostForm.Has("uncategorised")}
		err = ask(c.cfg.API, r, http.MethodPost, "/v1/blocklists", nil, body, new(api.BlocklistChange))
	}
	if err != nil {
		c.showLists(w, r, statusOf(err), &listsContent{Form: f}, err.Error())
		return
	}
	http.Redirect(w, r, listsPage+"/"+url.PathEscape(f.Name)+"?done=created", http.StatusSeeOther)
}

// largeForm is the message about a form that cannot be read.
const largeForm = "The form cannot be read, or has more than 16 KiB: use `adshard blocklist set` for that."

func (c *Console) blocklist(w http.ResponseWriter, r *http.Request) {
	c.showList(w, r, http.StatusOK, listForm{}, "")
}

// showList shows a block list with a page of its entries.
func (c *Console) showList(w http.ResponseWriter, r *http.Request, status int, f listForm, trouble string) {
	l := &listContent{Path: listsPage + "/" + url.PathEscape(r.PathValue("name")), Form: f}
	q := url.Values{"limit": {strconv.Itoa(shownItems)}}
	if at := r.URL.Query().Get("cursor"); at != "" {
		q.Set("cursor", at)
	}
	v := new(api.BlocklistAnswer)
	if err := ask(c.cfg.API, r, http.MethodGet, "/v1/blocklists/"+url.PathEscape(r.PathValue("name")), q, nil, v); err != nil {
		status = statusOf(err)
		c.show(w, r, status, "failed", page{Title: http.StatusText(status), Trouble: err.Error()})
		return
	}
	l.Blocklist = v.Blocklist
	if v.Next != "" {
		l.Next = l.Path + "?" + url.Values{"cursor": {v.Next}}.Encode()
	}
	c.show(w, r, status, "blocklist", page{Title: "Block list " + v.Blocklist.Name, Content: l, Done: listDone(r), Trouble: trouble})
}

// changeList makes the call that a form on a block list's page asks for.
func (c *Console) changeList(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		c.fail(w, r, http.StatusBadRequest, largeForm)
		return
	}
	name, f, do := r.PathValue("name"), listFormOf(r.PostForm), r.PostForm.Get("do")
	call, to := "/v1/blocklists/"+url.PathEscape(name), listsPage+"/"+url.PathEscape(name)
	var header []string
	if tag := r.PostForm.Get("etag"); tag != "" {
		header = []string{"If-Match", tag}
	}
	if do == "delete" {
		if err := ask(c.cfg.API, r, http.MethodDelete, call, nil, nil, new(api.BlocklistChange), header...); err != nil {
			c.showList(w, r, statusOf(err), f, troubleOf(err))
			return
		}
		http.Redirect(w, r, listsPage+"?done=deleted", http.StatusSeeOther)
		return
	}
	body, err := listPatch(do, &f)
	if err == nil {
		err = ask(c.cfg.API, r, http.MethodPatch, call, nil, body, new(api.BlocklistChange), header...)
	}
	if err != nil {
		c.showList(w, r, statusOf(err), f, troubleOf(err))
		return
	}
	http.Redirect(w, r, to+"?done=changed", http.StatusSeeOther)
}

// listPatch returns the body of the call that a form asks for. Errors: *refused.
func listPatch(do string, f *listForm) (map[string]any, error) {
	switch do {
	case "block", "allow":
		return map[string]any{"block_uncategorised": do == "block"}, nil
	case "add", "remove":
		e, err := f.entries()
		if err != nil {
			return nil, err
		}
		if len(e.Advertisers)+len(e.Domains)+len(e.Categories) == 0 {
			return nil, &refused{http.StatusBadRequest, "the form names no entry"}
		}
		return map[string]any{do: e}, nil
	}
	return nil, &refused{http.StatusBadRequest, "the form does not say what is to be changed"}
}

// listDone returns the message about what was done before this page was shown.
func listDone(r *http.Request) string {
	switch r.URL.Query().Get("done") {
	case "created":
		return "The block list is created; queries can name it within a second."
	case "changed":
		return "Saved; queries see it within a second."
	case "deleted":
		return "The block list is deleted. Queries that name it are refused."
	}
	return ""
}
