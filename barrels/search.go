package barrels

import (
	"context"

	"adshard/barrels/query"
	"adshard/search"
)

// Search implements search.Searcher.
func (s *barrel) Search(ctx context.Context, r *search.Request) (*search.Answer, error) {
	if err := query.Check(r); err != nil {
		return nil, err
	}
	st := s.Acquire()
	if st == nil {
		return nil, s.errClosed("barrels: search")
	}
	defer st.Release()
	s.searches.Add(1)
	a, damage, err := s.engine.Search(ctx, st, r)
	s.reportBad(damage)
	if err == nil && s.behind.Load() {
		a.Width = search.Width{}
	}
	return a, err
}

// Explain implements search.Explainer.
func (s *barrel) Explain(ctx context.Context, r *search.Request, limit int) (*search.Explanation, error) {
	if err := query.Check(r); err != nil {
		return nil, err
	}
	st := s.Acquire()
	if st == nil {
		return nil, s.errClosed("barrels: explain")
	}
	defer st.Release()
	e, damage, err := s.engine.Explain(ctx, st, r, limit)
	s.reportBad(damage)
	if err == nil && s.behind.Load() {
		e.Width = search.Width{}
	}
	return e, err
}
