package admin

import (
	"context"
	"net/http"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/data"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
)

const (
	importsPath = "/v1/imports"
	// fileTimeout is how long a file may take to arrive. Together with controlTimeout it is below
	// the time that a connection has for an answer.
	fileTimeout = 4 * time.Second
	maxFileName = 255
	maxAccount  = 1024 // bytes of an advertiser's name
)

// imports lists the latest imports.
func (c *Config) imports(w http.ResponseWriter, r *http.Request) {
	q := dataQuery{}
	if err := q.read(r); err != nil {
		httpapi.WriteError(w, err)
		return
	}
	answer(c, w, r, func(context.Context) (*api.ImportList, error) { return c.Data.Imports(), nil })
}

// importFile imports a file or checks it in a dry run, logs who sent it, and answers.
func (c *Config) importFile(w http.ResponseWriter, r *http.Request) {
	q := dataQuery{allowed: []string{"dry_run", "advertiser_name", "file", "wait", "wait_ms"}, waitMs: defaultWait}
	err := q.read(r)
	var body []byte
	if err == nil {
		body, err = httpapi.ReadFile(w, r, fileTimeout, data.MaxImport)
	}
	if err != nil {
		refuseUnread(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), controlTimeout)
	defer cancel()
	who := access.CallerOf(ctx).String()
	im := &data.Import{File: body, Name: q.file, Advertiser: q.advertiserName, Caller: who, DryRun: q.dryRun}
	if q.wait {
		im.Wait = time.Duration(q.waitMs) * time.Millisecond
	}
	v, err := c.Data.Import(ctx, im)
	log := c.Log.With("method", r.Method, "path", r.URL.Path, "by", who, "from", r.RemoteAddr, "file", q.file, "dry_run", q.dryRun)
	if err != nil {
		log.Warn("an admin call failed", "err", err)
		httpapi.WriteError(w, err)
		return
	}
	if !q.dryRun {
		log.Info("changed through the admin port", "rows", v.Rows, "rejected", v.Rejected, "min_clock", v.MinClock)
	}
	httpapi.WriteJSON(w, statusOf(v.Served), v)
}
