package admin

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"adshard/blocklist"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/data"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
)

const (
	listsPath = "/v1/blocklists"
	listPath  = listsPath + "/{name}"
)

const (
	// listBodyTimeout is how long a body may take to arrive, and listTimeout how long its processing may take: a list may have a
	// million entries.
	listBodyTimeout = 30 * time.Second
	listTimeout     = time.Minute
)

// blocklistCalls returns the calls for block lists.
func (c *Config) blocklistCalls() map[string]calls {
	change := func(verb data.Verb) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { c.changeBlocklist(w, r, verb) }
	}
	return map[string]calls{
		listsPath: {http.MethodGet: c.blocklists, http.MethodPost: change(data.Create)},
		listPath:  {http.MethodGet: c.blocklist, http.MethodPatch: change(data.Update), http.MethodDelete: change(data.Remove)},
	}
}

// ofLists reports whether a path is one of the block lists' paths, whose bodies may be large.
func ofLists(path string) bool { return path == listsPath || strings.HasPrefix(path, listsPath+"/") }

func (c *Config) blocklists(w http.ResponseWriter, r *http.Request) {
	q := dataQuery{allowed: []string{"cursor", "limit"}, limit: defaultPage}
	if err := q.read(r); err != nil {
		httpapi.WriteError(w, err)
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.BlocklistList, error) {
		return c.Data.Blocklists(ctx, q.cursor, q.limit)
	})
}

func (c *Config) blocklist(w http.ResponseWriter, r *http.Request) {
	q := dataQuery{allowed: []string{"cursor", "limit"}, limit: defaultPage, entries: true}
	if err := q.read(r); err != nil {
		httpapi.WriteError(w, err)
		return
	}
	takeTime(w)
	v, err := c.entriesOf(r.Context(), r.PathValue("name"), &q)
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	w.Header().Set("ETag", v.Blocklist.Etag)
	if has(r, v.Blocklist.Etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	httpapi.WriteJSON(w, http.StatusOK, v)
}

// entriesOf reads a page of a block list's entries. It gives its place back before the page is sent, so that a client that reads slowly
// delays no other.
func (c *Config) entriesOf(ctx context.Context, name string, q *dataQuery) (*api.BlocklistAnswer, error) {
	leave, err := c.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return c.Data.Blocklist(ctx, name, q.cursor, q.limit)
}

// hold waits for one of the places for requests about lists (data.Service.HoldLists).
func (c *Config) hold(ctx context.Context) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	return c.Data.HoldLists(ctx)
}

// takeTime extends the write deadline of this answer beyond that of the server's other answers.
func takeTime(w http.ResponseWriter) {
	// A writer that does not support deadlines has no limit to extend.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(controlTimeout + listBodyTimeout + listTimeout + lineTimeout))
}

// changeBlocklist makes one change, logs who made it, and answers.
func (c *Config) changeBlocklist(w http.ResponseWriter, r *http.Request, verb data.Verb) {
	takeTime(w)
	leave, err := c.hold(r.Context())
	if err != nil {
		refuseUnread(w, r, err)
		return
	}
	defer leave()
	change, err := listChange(w, r, verb)
	if err != nil {
		refuseUnread(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), listTimeout)
	defer cancel()
	who := access.CallerOf(ctx).String()
	log := c.Log.With("method", r.Method, "path", r.URL.Path, "by", who, "from", r.RemoteAddr)
	v, err := c.Data.ChangeBlocklist(ctx, change)
	if err != nil {
		log.Warn("an admin call failed", "err", err)
		httpapi.WriteError(w, err)
		return
	}
	log.Info("changed through the admin port", "first", fmt.Sprintf("%s block list %s", v.Effect, v.Name), "version", v.Version, "entries", v.Entries)
	httpapi.WriteJSON(w, http.StatusOK, v)
}

// listChange reads a request for a change.
func listChange(w http.ResponseWriter, r *http.Request, verb data.Verb) (*data.ListChange, error) {
	if err := api.FromQuery(api.None{}, r.URL.RawQuery); err != nil {
		return nil, err
	}
	if len(r.Header.Values("Idempotency-Key")) > 0 {
		return nil, fault.Field("admin", "Idempotency-Key", "changes of block lists take no Idempotency-Key: made twice they do what they do once, or are refused")
	}
	name := r.PathValue("name")
	if verb != data.Create {
		if err := blocklist.CheckName(name); err != nil {
			return nil, err
		}
	}
	tag, err := ifMatch(r, verb)
	if err != nil {
		return nil, err
	}
	if verb == data.Remove {
		if r.ContentLength != 0 {
			return nil, fault.Field("admin", "", "DELETE has no body")
		}
		return &data.ListChange{Verb: verb, Name: name, IfMatch: tag}, nil
	}
	body, err := httpapi.ReadJSON(w, r, listBodyTimeout, data.MaxListBody)
	if err != nil {
		return nil, err
	}
	change, err := data.ParseList(verb, name, body)
	if err != nil {
		return nil, err
	}
	change.IfMatch = tag
	return change, nil
}
