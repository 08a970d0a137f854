package wire

import (
	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search"
)

// MaxSlots is the largest number of slots in a request (serving.md §8).
const MaxSlots = 20

// Bounds of a request. The number of terms is that of words × languages × synonyms.
const (
	maxTerms     = 1 << 16
	maxSenses    = 4 * maxTerms
	maxRules     = 2 * search.MatchTypes
	maxRequestID = 64
	maxMinClock  = 33 // search.Position as text
)

// FromRequest returns the message of a request. The message shares only strings with the request,
// and may be sent to many slaves at the same time.
func FromRequest(r *search.Request) *pb.SearchRequest {
	m := &pb.SearchRequest{
		Query:       fromQuery(r.Query),
		Profile:     make([]*pb.Rule, search.MatchTypes),
		Device:      uint32(r.Device),
		Slots:       uint32(max(r.Slots, 0)),
		Reserve:     r.Reserve,
		ExactCounts: r.ExactCounts,
		RequestId:   r.RequestID,
		View:        r.View,
		Shard:       uint64(r.Shard),
		Pieces:      true,
		Context:     fromContext(r.Context),
		Page:        fromPage(r.Page),
		Scorer:      fromScorer(r.Scorer),
	}
	rules := make([]pb.Rule, search.MatchTypes)
	for i, rule := range r.Profile {
		m.Profile[i] = &rules[i]
		rules[i].Others, rules[i].Ordered, rules[i].Adjacent = rule.Others, rule.Ordered, rule.Adjacent
		rules[i].Reach = uint32(rule.Reach)
	}
	return m
}

func fromQuery(q *search.Query) *pb.Query {
	if q == nil {
		return &pb.Query{}
	}
	n, senses, synonyms, misspelt := len(q.Terms), 0, false, false
	for i := range q.Terms {
		senses += len(q.Terms[i].Senses)
	}
	m := &pb.Query{
		Text: q.Text, Norm: make([]uint64, len(q.Words)), Fold: make([]uint64, len(q.Words)),
		Terms: make([]uint64, n), Senses: make([]uint32, n), Words: make([]uint32, 0, senses),
	}
	for i, w := range q.Words {
		m.Norm[i], m.Fold[i] = w.Norm, w.Fold
	}
	for _, r := range q.Runs {
		m.Runs, m.RunWords, m.RunMore = append(m.Runs, r.Norm), append(m.RunWords, uint32(r.Word)), append(m.RunMore, uint32(r.More))
	}
	for i := range q.Terms {
		m.Terms[i], m.Senses[i] = q.Terms[i].Term, uint32(len(q.Terms[i].Senses))
		for _, s := range q.Terms[i].Senses {
			m.Words = append(m.Words, uint32(s.Word))
			synonyms = synonyms || s.Synonym != 0
			misspelt = misspelt || s.Misspelt
		}
	}
	if synonyms {
		m.Synonyms = make([]uint64, 0, senses)
		for i := range q.Terms {
			for _, s := range q.Terms[i].Senses {
				m.Synonyms = append(m.Synonyms, s.Synonym)
			}
		}
	}
	if misspelt {
		m.Misspelt = make([]uint32, 0, senses)
		for i := range q.Terms {
			for _, s := range q.Terms[i].Senses {
				m.Misspelt = append(m.Misspelt, uint32(one(s.Misspelt)))
			}
		}
	}
	return m
}

// one returns 1 for true.
func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// ToRequest reads the message of a request. Errors: fault.Invalid if it is out of bounds.
func ToRequest(m *pb.SearchRequest) (*search.Request, error) {
	const op = "wire: search request"
	q, err := toQuery(m.GetQuery())
	if err != nil {
		return nil, err
	}
	switch {
	case m.GetDevice() >= search.Devices:
		return nil, fault.Field(op, "device", "number %d; there are %d devices", m.GetDevice(), search.Devices)
	case m.GetSlots() < 1 || m.GetSlots() > MaxSlots:
		return nil, fault.Field(op, "slots", "%d; it must be 1 to %d", m.GetSlots(), MaxSlots)
	case len(m.GetProfile()) != search.MatchTypes:
		return nil, fault.Field(op, "profile", "%d rules; there are %d match types", len(m.GetProfile()), search.MatchTypes)
	}
	context, err := toContext(m.GetContext())
	if err != nil {
		return nil, err
	}
	page, err := toPage(m.GetPage())
	if err != nil {
		return nil, err
	}
	scorer, err := toScorer(m.GetScorer())
	if err != nil {
		return nil, err
	}
	r := &search.Request{
		Query:       q,
		Scorer:      scorer,
		Context:     context,
		Page:        page,
		Device:      search.Device(m.GetDevice()),
		Slots:       int(m.GetSlots()),
		Reserve:     m.GetReserve(),
		ExactCounts: m.GetExactCounts(),
		RequestID:   m.GetRequestId(),
		View:        m.GetView(),
		Shard:       search.ShardID(m.GetShard()),
	}
	for i, rule := range m.GetProfile() {
		if rule.GetReach() >= uint32(search.Levels) {
			return nil, fault.Field(op, "profile", "level %d; there are %d levels", rule.GetReach(), search.Levels)
		}
		r.Profile[i] = search.Rule{Others: rule.GetOthers(), Ordered: rule.GetOrdered(),
			Adjacent: rule.GetAdjacent(), Reach: search.Level(rule.GetReach())}
	}
	return r, nil
}

func toQuery(m *pb.Query) (*search.Query, error) {
	const op = "wire: query"
	n := len(m.GetNorm())
	if n > search.MaxQueryUnits || len(m.GetFold()) != n || len(m.GetTerms()) > maxTerms {
		return nil, fault.Field(op, "query", "%d words with %d folded forms and %d terms; at most %d words with one form each",
			n, len(m.GetFold()), len(m.GetTerms()), search.MaxQueryUnits)
	}
	q := &search.Query{Text: m.GetText()}
	if n > 0 {
		q.Words = make([]search.Word, n)
	}
	for i := range q.Words {
		q.Words[i] = search.Word{Norm: m.Norm[i], Fold: m.Fold[i]}
	}
	var err error
	if q.Runs, err = toRuns(m, n); err != nil {
		return nil, err
	}
	q.Terms, err = toTerms(m, n+len(q.Runs))
	return q, err
}

// toRuns reads the runs of a query of n words.
func toRuns(m *pb.Query, n int) ([]search.Run, error) {
	const op = "wire: query"
	runs := len(m.GetRuns())
	if runs > search.MaxQueryRuns || len(m.GetRunWords()) != runs || len(m.GetRunMore()) != runs {
		return nil, fault.Field(op, "query", "%d runs with %d first words and %d lengths; at most %d runs with one of each",
			runs, len(m.GetRunWords()), len(m.GetRunMore()), search.MaxQueryRuns)
	}
	if runs == 0 {
		return nil, nil
	}
	list := make([]search.Run, runs)
	for i, norm := range m.Runs {
		word, more := m.RunWords[i], m.RunMore[i]
		if int64(word)+int64(more) >= int64(n) {
			return nil, fault.Field(op, "query", "a run of word %d and %d more; there are %d words", word, more, n)
		}
		list[i] = search.Run{Norm: norm, Word: uint8(word), More: uint8(more)}
	}
	return list, nil
}

// toTerms reads the terms of a query of n words and runs. All senses are stored in one array.
func toTerms(m *pb.Query, n int) ([]search.QueryTerm, error) {
	const op = "wire: query"
	total := len(m.GetWords())
	if len(m.GetSenses()) != len(m.GetTerms()) || len(m.GetSynonyms()) != 0 && len(m.GetSynonyms()) != total || len(m.GetMisspelt()) != 0 && len(m.GetMisspelt()) != total {
		return nil, fault.Field(op, "query", "%d terms with %d counts, %d senses, %d synonyms and %d corrections: the lists do not fit",
			len(m.GetTerms()), len(m.GetSenses()), total, len(m.GetSynonyms()), len(m.GetMisspelt()))
	}
	if len(m.GetTerms()) == 0 {
		return nil, nil
	}
	senses := make([]search.Sense, total)
	for i, w := range m.Words {
		if int64(w) >= int64(n) {
			return nil, fault.Field(op, "query", "a term of word %d; there are %d words and runs", w, n)
		}
		senses[i].Word = uint16(w)
		if len(m.Synonyms) > 0 {
			senses[i].Synonym = m.Synonyms[i]
		}
		senses[i].Misspelt = len(m.Misspelt) > 0 && m.Misspelt[i] != 0
	}
	terms := make([]search.QueryTerm, len(m.Terms))
	for i, count := range m.Senses {
		if int64(count) > int64(len(senses)) {
			return nil, fault.Field(op, "query", "term %d has %d senses, %d are left", i, count, len(senses))
		}
		terms[i] = search.QueryTerm{Term: m.Terms[i], Senses: senses[:count:count]}
		senses = senses[count:]
	}
	if len(senses) > 0 {
		return nil, fault.Field(op, "query", "%d senses belong to no term", len(senses))
	}
	return terms, nil
}
