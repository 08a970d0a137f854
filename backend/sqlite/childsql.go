package sqlite

import (
	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/search"
)

// phrase is the natural key of a keyword or negative within its owner.
type phrase struct {
	words string
	match search.MatchType
}

type keywordValue struct {
	text    string
	enabled bool
	bid     optional
	quality uint8
}

type negativeValue struct {
	text    string
	enabled bool
}

// adContent is the natural key of an ad: all of it. Headlines and descriptions
// are JSON.
type adContent struct {
	headlines, descriptions, path1, path2, finalURL string
}

type adValue struct {
	enabled bool
}

var keywordSQL = childSQL[phrase, keywordValue]{
	entity: backend.EntityKeyword,
	kind:   backend.KindGroup, hash: (*hasher).keyword,
	load:  "SELECT id, words, type, text, enabled, bid, quality FROM keyword WHERE group_id = ?",
	byKey: phraseKey,
	scan: func(st *zs.Stmt) (uint64, phrase, keywordValue) {
		text := st.ColumnText(3)
		return uint64(st.ColumnInt64(0)), phrase{columnShared(st, 1, text), search.MatchType(st.ColumnInt64(2))},
			keywordValue{text, st.ColumnBool(4), columnOptional(st, 5), uint8(st.ColumnInt64(6))}
	},
	insert:    "INSERT INTO keyword (group_id, words, type, id, text, enabled, bid, quality) VALUES ",
	columns:   8,
	update:    "UPDATE keyword SET text = ?, enabled = ?, bid = ?, quality = ? WHERE group_id = ?" + phraseKey,
	remove:    "DELETE FROM keyword WHERE group_id = ?" + phraseKey,
	bindKey:   bindPhrase,
	bindValue: bindKeyword,
}

var groupNegativeSQL = childSQL[phrase, negativeValue]{
	entity: backend.EntityNegative,
	kind:   backend.KindGroup, hash: func(h *hasher, owner, id uint64, k phrase, v negativeValue) sum {
		return h.negative(rowGroupNegative, owner, id, k, v)
	},
	load:      "SELECT id, words, type, text, enabled FROM group_negative WHERE group_id = ?",
	byKey:     phraseKey,
	scan:      scanHeldNegative,
	insert:    "INSERT INTO group_negative (group_id, words, type, id, text, enabled) VALUES ",
	columns:   6,
	update:    "UPDATE group_negative SET text = ?, enabled = ? WHERE group_id = ?" + phraseKey,
	remove:    "DELETE FROM group_negative WHERE group_id = ?" + phraseKey,
	bindKey:   bindPhrase,
	bindValue: bindNegative,
}

var campaignNegativeSQL = childSQL[phrase, negativeValue]{
	entity: backend.EntityNegative,
	kind:   backend.KindCampaign, hash: func(h *hasher, owner, id uint64, k phrase, v negativeValue) sum {
		return h.negative(rowCampaignNegative, owner, id, k, v)
	},
	load:      "SELECT id, words, type, text, enabled FROM campaign_negative WHERE campaign_id = ?",
	byKey:     phraseKey,
	scan:      scanHeldNegative,
	insert:    "INSERT INTO campaign_negative (campaign_id, words, type, id, text, enabled) VALUES ",
	columns:   6,
	update:    "UPDATE campaign_negative SET text = ?, enabled = ? WHERE campaign_id = ?" + phraseKey,
	remove:    "DELETE FROM campaign_negative WHERE campaign_id = ?" + phraseKey,
	bindKey:   bindPhrase,
	bindValue: bindNegative,
}

// phraseKey and contentKey restrict a statement to one key.
const (
	phraseKey  = " AND words = ? AND type = ?"
	contentKey = " AND headlines = ? AND descriptions = ? AND path1 = ? AND path2 = ? AND final_url = ?"
)

var adSQL = childSQL[adContent, adValue]{
	entity: backend.EntityAd,
	kind:   backend.KindGroup, hash: func(h *hasher, group, id uint64, k adContent, v adValue) sum {
		return ad(h, group, id, k.headlines, k.descriptions, k, v.enabled)
	},
	load:  "SELECT id, headlines, descriptions, path1, path2, final_url, enabled FROM ad WHERE group_id = ?",
	byKey: contentKey,
	scan: func(st *zs.Stmt) (uint64, adContent, adValue) {
		return uint64(st.ColumnInt64(0)),
			adContent{st.ColumnText(1), st.ColumnText(2), st.ColumnText(3), st.ColumnText(4), st.ColumnText(5)},
			adValue{st.ColumnBool(6)}
	},
	insert:  "INSERT INTO ad (group_id, headlines, descriptions, path1, path2, final_url, id, enabled) VALUES ",
	columns: 8,
	update:  "UPDATE ad SET enabled = ? WHERE group_id = ?" + contentKey,
	remove:  "DELETE FROM ad WHERE group_id = ?" + contentKey,
	bindKey: func(st *zs.Stmt, at int, k adContent) int {
		for i, s := range [...]string{k.headlines, k.descriptions, k.path1, k.path2, k.finalURL} {
			st.BindText(at+i, s)
		}
		return at + 5
	},
	bindValue: func(st *zs.Stmt, at int, v adValue) int {
		st.BindBool(at, v.enabled)
		return at + 1
	},
}

func scanHeldNegative(st *zs.Stmt) (uint64, phrase, negativeValue) {
	text := st.ColumnText(3)
	return uint64(st.ColumnInt64(0)), phrase{columnShared(st, 1, text), search.MatchType(st.ColumnInt64(2))},
		negativeValue{text, st.ColumnBool(4)}
}

func bindPhrase(st *zs.Stmt, at int, k phrase) int {
	st.BindText(at, k.words)
	st.BindInt64(at+1, int64(k.match))
	return at + 2
}

func bindKeyword(st *zs.Stmt, at int, v keywordValue) int {
	st.BindText(at, v.text)
	st.BindBool(at+1, v.enabled)
	v.bid.bind(st, at+2)
	st.BindInt64(at+3, int64(v.quality))
	return at + 4
}

func bindNegative(st *zs.Stmt, at int, v negativeValue) int {
	st.BindText(at, v.text)
	st.BindBool(at+1, v.enabled)
	return at + 2
}
