package admin

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"adshard/backend"
	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/console"
	"adshard/internal/node/data"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

const batchPath = "/v1/batch"

// collection says how the paths of one kind of entity look.
type collection struct {
	path string
	of   backend.Entity
	// lists names the parameters that give the owner of a list, and items those that give the owner of one
	// entity.
	lists, items []string
}

var collections = []collection{
	{"/v1/advertisers", backend.EntityAdvertiser, nil, nil},
	{"/v1/campaigns", backend.EntityCampaign, []string{"advertiser"}, nil},
	{"/v1/groups", backend.EntityGroup, []string{"campaign"}, nil},
	{"/v1/keywords", backend.EntityKeyword, []string{"group"}, []string{"group"}},
	{"/v1/negatives", backend.EntityNegative, []string{"group", "campaign", "advertiser"}, []string{"group", "campaign", "advertiser"}},
	{"/v1/ads", backend.EntityAd, []string{"group"}, []string{"group"}},
}

// data returns the calls for data.
func (c *Config) data() map[string]calls {
	all := map[string]calls{
		batchPath:     {http.MethodPost: c.batch},
		"/v1/changes": {http.MethodGet: c.changes},
		"/v1/export":  {http.MethodGet: c.export},
		importsPath:   {http.MethodGet: c.imports, http.MethodPost: c.importFile},
	}
	maps.Copy(all, c.blocklistCalls())
	for _, of := range collections {
		all[of.path] = calls{
			http.MethodGet:  func(w http.ResponseWriter, r *http.Request) { c.list(w, r, of) },
			http.MethodPost: func(w http.ResponseWriter, r *http.Request) { c.change(w, r, of, data.Create) },
		}
		all[of.path+"/{id}"] = calls{
			http.MethodGet:    func(w http.ResponseWriter, r *http.Request) { c.item(w, r, of) },
			http.MethodPatch:  func(w http.ResponseWriter, r *http.Request) { c.change(w, r, of, data.Update) },
			http.MethodDelete: func(w http.ResponseWriter, r *http.Request) { c.change(w, r, of, data.Remove) },
		}
	}
	return all
}

// limited bounds the sizes of bodies.
func limited(next http.Handler) http.Handler {
	small, list := http.MaxBytesHandler(next, httpapi.MaxBody), http.MaxBytesHandler(next, data.MaxListBody)
	large := map[string]http.Handler{
		batchPath: http.MaxBytesHandler(next, data.MaxBatch), importsPath: http.MaxBytesHandler(next, data.MaxImport),
		console.Root + "import": http.MaxBytesHandler(next, console.MaxForm),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := large[r.URL.Path]; ok {
			h.ServeHTTP(w, r)
			return
		}
		if ofLists(r.URL.Path) {
			list.ServeHTTP(w, r)
			return
		}
		small.ServeHTTP(w, r)
	})
}

func (c *Config) list(w http.ResponseWriter, r *http.Request, of collection) {
	q := dataQuery{allowed: slices.Concat(of.lists, []string{"cursor", "limit"}), limit: defaultPage}
	err := q.read(r)
	if err == nil {
		err = q.owned(of)
	}
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	answer(c, w, r, func(ctx context.Context) (*api.ItemList, error) {
		return c.Data.List(ctx, data.Page{Type: of.of, Advertiser: q.advertiser, Campaign: q.campaign, Group: q.group, Cursor: q.cursor, Limit: q.limit})
	})
}

func (c *Config) item(w http.ResponseWriter, r *http.Request, of collection) {
	q := dataQuery{allowed: of.items}
	key, err := q.key(r, of)
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), controlTimeout)
	defer cancel()
	v, err := c.Data.Get(ctx, key)
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	w.Header().Set("ETag", v.Item.Etag)
	if has(r, v.Item.Etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	httpapi.WriteJSON(w, http.StatusOK, v)
}

// change makes one change and answers.
func (c *Config) change(w http.ResponseWriter, r *http.Request, of collection, verb data.Verb) {
	q := dataQuery{allowed: []string{"wait", "wait_ms"}, waitMs: defaultWait}
	o := data.Operation{Verb: verb, Key: data.Key{Type: of.of}}
	var err error
	if verb == data.Create {
		err = q.read(r)
	} else {
		q.allowed = append(q.allowed, of.items...)
		o.Key, err = q.key(r, of)
	}
	if err == nil {
		o.IfMatch, err = ifMatch(r, verb)
	}
	var body []byte
	if err == nil && verb != data.Remove {
		body, err = httpapi.ReadJSON(w, r, bodyTimeout, httpapi.MaxBody)
	}
	if err != nil {
		refuseUnread(w, r, err)
		return
	}
	done := &o
	if verb == data.Remove {
		if r.ContentLength != 0 {
			err = fault.Field("admin", "", "DELETE has no body")
		}
	} else {
		done, err = data.ParseOperation(o, body)
	}
	if err != nil {
		refuseUnread(w, r, err)
		return
	}
	asked := fmt.Appendf(nil, "%s %v %q\n%s", verb, o.Key, o.IfMatch, body)
	c.apply(w, r, &q, []*data.Operation{done}, asked)
}

// refuseUnread answers with an error and closes the connection, since an unread body may never end.
func refuseUnread(w http.ResponseWriter, r *http.Request, err error) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	httpapi.WriteError(w, err)
}

func (c *Config) batch(w http.ResponseWriter, r *http.Request) {
	q := dataQuery{allowed: []string{"wait", "wait_ms"}, waitMs: defaultWait}
	err := q.read(r)
	var body []byte
	if err == nil {
		body, err = httpapi.ReadJSON(w, r, bodyTimeout, data.MaxBatch)
	}
	var list []*data.Operation
	if err == nil {
		list, err = data.ParseBatch(body)
	}
	if err != nil {
		refuseUnread(w, r, err)
		return
	}
	c.apply(w, r, &q, list, body)
}

// apply makes the changes, logs who made them, and answers.
func (c *Config) apply(w http.ResponseWriter, r *http.Request, q *dataQuery, list []*data.Operation, asked []byte) {
	key, err := idempotencyKey(r)
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), controlTimeout)
	defer cancel()
	who := access.CallerOf(ctx).String()
	req := &data.Request{Operations: list, Asked: asked, Caller: who, Key: key}
	if q.wait {
		req.Wait = time.Duration(q.waitMs) * time.Millisecond
	}
	v, err := c.Data.Change(ctx, req)
	if err != nil {
		c.Log.Warn("an admin call failed", "method", r.Method, "path", r.URL.Path, "by", who, "from", r.RemoteAddr, "err", err)
		httpapi.WriteError(w, err)
		return
	}
	if !v.Replayed {
		c.Log.Info("changed through the admin port", "method", r.Method, "path", r.URL.Path, "by", who, "from", r.RemoteAddr,
			"min_clock", v.MinClock, "changes", len(v.Changes), "first", summary(v.Changes))
	}
	httpapi.WriteJSON(w, statusOf(v.Served), v)
}

// statusOf returns the status of the answer for a durable change. `served` says whether all live slaves serve
// the change, or is nil if the client did not wait for that.
func statusOf(served *bool) int {
	if served != nil && !*served {
		return http.StatusAccepted
	}
	return http.StatusOK
}

// logged is the number of a batch's changes that are named in the log.
const logged = 20

// summary names the first changes of a batch for the log.
func summary(list []api.DataChange) string {
	var names []string
	for _, v := range list[:min(logged, len(list))] {
		names = append(names, fmt.Sprintf("%s %s %d", v.Effect, v.Type, v.ID))
	}
	return strings.Join(names, ", ")
}

func (c *Config) changes(w http.ResponseWriter, r *http.Request) {
	q := dataQuery{allowed: []string{"after", "limit", "wait_ms"}, limit: defaultChanges, changes: true}
	err := q.read(r)
	var after search.Position
	if err == nil && !q.afterGiven {
		err = api.Missing("after")
	}
	if err == nil && q.after != "" {
		after, err = search.ParsePosition("after", q.after)
	}
	if err != nil {
		httpapi.WriteError(w, err)
		return
	}
	c.stream(w, r, func(ctx context.Context, to data.Lines) error {
		return c.Data.Changes(ctx, after, q.limit, time.Duration(q.waitMs)*time.Millisecond, to)
	})
}

func (c *Config) export(w http.ResponseWriter, r *http.Request) {
	q := dataQuery{allowed: []string{"advertiser"}}
	if err := q.read(r); err != nil {
		httpapi.WriteError(w, err)
		return
	}
	c.stream(w, r, func(ctx context.Context, to data.Lines) error { return c.Data.Export(ctx, q.advertiser, to) })
}

// stream answers with the lines that `write` produces. After an error that follows the first line, it cuts the
// connection, so that no client takes a part for the whole.
func (c *Config) stream(w http.ResponseWriter, r *http.Request, write func(context.Context, data.Lines) error) {
	lines := newLines(w)
	err := write(r.Context(), lines)
	switch {
	case err != nil && lines.begun:
		c.Log.Warn("a stream of the admin port ended early", "path", r.URL.Path, "by", access.CallerOf(r.Context()).String(), "err", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		_ = lines.deadline()
		httpapi.WriteError(w, err)
	}
}
