package query

import (
	"sync"

	"adshard/barrels/index"
	"adshard/search"
)

// execution is one search, one explanation, or one check of cached data, with all its stages.
// Executions are pooled, so that a search allocates nothing once its buffers have grown.
type execution struct {
	ranking
	scan scan
}

var executions = sync.Pool{New: func() any {
	e := new(execution)
	e.seen = make(map[uint64]struct{})
	e.blockedAdvertisers = make(map[*index.Advertiser]bool)
	e.blockedCampaigns = make(map[*index.Campaign]bool)
	e.blockedGroups = make(map[uint64]bool)
	e.context.metGroups = make(map[uint64]bool)
	e.scan.scope, e.scan.postings.scope, e.scan.pruner.scope = &e.scope, &e.scope, &e.scope
	e.scan.ranking = &e.ranking
	return e
}}

// begin returns an execution for a request. The caller must end it. Errors: those of
// index.Slices.Served, and fault.Version if this program does not have the scorer.
func (c *Engine) begin(st *index.Snapshot, r *search.Request, op string) (*execution, error) {
	e := executions.Get().(*execution)
	if err := e.scope.reset(c, st, r, op); err != nil {
		e.end()
		return nil, err
	}
	e.context.reset(r, false)
	if err := e.scorer.reset(c, r, op); err != nil {
		e.end()
		return nil, err
	}
	e.ranking.reset()
	return e, nil
}

// end returns the execution to the pool.
func (e *execution) end() {
	e.scan.release()
	e.ranking.release()
	executions.Put(e)
}
