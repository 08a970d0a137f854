package sqlite

import (
	zs "zombiezen.com/go/sqlite"

	"adshard/backend"
	"adshard/backend/upsert"
	"adshard/search"
)

var keywordSQL = childSQL[upsert.Phrase, upsert.Keyword]{
	entity: backend.EntityKeyword,
	kind:   backend.KindGroup, hash: func(h *hasher, group, id uint64, k upsert.Phrase, v upsert.Keyword) sum {
		return h.keyword(group, id, k, v.Text, &v.KeywordSettings)
	},
	load:  "SELECT id, words, type, text, " + keywordColumns + " FROM keyword WHERE group_id = ?",
	byKey: phraseKey,
	scan: func(st *zs.Stmt) (uint64, upsert.Phrase, upsert.Keyword) {
		text := st.ColumnText(3)
		return uint64(st.ColumnInt64(0)), upsert.Phrase{Words: columnShared(st, 1, text), Match: search.MatchType(st.ColumnInt64(2))},
			upsert.Keyword{Text: text, KeywordSettings: scanKeywordSettings(st, 4)}
	},
	insert:    "INSERT INTO keyword (group_id, words, type, id, text, " + keywordColumns + ") VALUES ",
	columns:   5 + keywordWidth,
	update:    "UPDATE keyword SET text = ?, " + keywordSetters + " WHERE group_id = ?" + phraseKey,
	remove:    "DELETE FROM keyword WHERE group_id = ?" + phraseKey,
	bindKey:   bindPhrase,
	bindValue: bindKeyword,
}

var (
	groupNegativeSQL      = negativeSQL("group_negative", "group_id", backend.KindGroup, rowGroupNegative)
	campaignNegativeSQL   = negativeSQL("campaign_negative", "campaign_id", backend.KindCampaign, rowCampaignNegative)
	advertiserNegativeSQL = negativeSQL("advertiser_negative", "advertiser_id", backend.KindAdvertiser, rowAdvertiserNegative)
)

// negativeSQL returns the SQL of a table of negatives. owner and kind are the column and the kind of their owners,
// and `row` begins the hashes of its rows.
func negativeSQL(table, owner string, kind backend.Kind, row byte) childSQL[upsert.Phrase, upsert.Negative] {
	return childSQL[upsert.Phrase, upsert.Negative]{
		entity: backend.EntityNegative,
		kind:   kind, hash: func(h *hasher, owner, id uint64, k upsert.Phrase, v upsert.Negative) sum {
			return h.negative(row, owner, id, k, v)
		},
		load:      "SELECT id, words, type, text, enabled FROM " + table + " WHERE " + owner + " = ?",
		byKey:     phraseKey,
		scan:      scanHeldNegative,
		insert:    "INSERT INTO " + table + " (" + owner + ", words, type, id, text, enabled) VALUES ",
		columns:   6,
		update:    "UPDATE " + table + " SET text = ?, enabled = ? WHERE " + owner + " = ?" + phraseKey,
		remove:    "DELETE FROM " + table + " WHERE " + owner + " = ?" + phraseKey,
		bindKey:   bindPhrase,
		bindValue: bindNegative,
	}
}

// phraseKey and contentKey restrict a statement to one key.
const (
	phraseKey  = " AND words = ? AND type = ?"
	contentKey = " AND headlines = ? AND descriptions = ? AND path1 = ? AND path2 = ? AND final_url = ?"
)

var adSQL = childSQL[upsert.Content, upsert.Ad]{
	entity: backend.EntityAd,
	kind:   backend.KindGroup, hash: func(h *hasher, group, id uint64, k upsert.Content, v upsert.Ad) sum {
		return ad(h, group, id, k.Headlines, k.Descriptions, k, v.Enabled)
	},
	load:  "SELECT id, headlines, descriptions, path1, path2, final_url, enabled FROM ad WHERE group_id = ?",
	byKey: contentKey,
	scan: func(st *zs.Stmt) (uint64, upsert.Content, upsert.Ad) {
		return uint64(st.ColumnInt64(0)),
			upsert.Content{
				Headlines: st.ColumnText(1), Descriptions: st.ColumnText(2),
				Path1: st.ColumnText(3), Path2: st.ColumnText(4), FinalURL: st.ColumnText(5),
			},
			upsert.Ad{Enabled: st.ColumnBool(6)}
	},
	insert:  "INSERT INTO ad (group_id, headlines, descriptions, path1, path2, final_url, id, enabled) VALUES ",
	columns: 8,
	update:  "UPDATE ad SET enabled = ? WHERE group_id = ?" + contentKey,
	remove:  "DELETE FROM ad WHERE group_id = ?" + contentKey,
	bindKey: func(st *zs.Stmt, at int, k upsert.Content) int {
		for i, s := range [...]string{k.Headlines, k.Descriptions, k.Path1, k.Path2, k.FinalURL} {
			st.BindText(at+i, s)
		}
		return at + 5
	},
	bindValue: func(st *zs.Stmt, at int, v upsert.Ad) int {
		st.BindBool(at, v.Enabled)
		return at + 1
	},
}

func scanHeldNegative(st *zs.Stmt) (uint64, upsert.Phrase, upsert.Negative) {
	text := st.ColumnText(3)
	return uint64(st.ColumnInt64(0)), upsert.Phrase{Words: columnShared(st, 1, text), Match: search.MatchType(st.ColumnInt64(2))},
		upsert.Negative{Text: text, Enabled: st.ColumnBool(4)}
}

func bindPhrase(st *zs.Stmt, at int, k upsert.Phrase) int {
	st.BindText(at, k.Words)
	st.BindInt64(at+1, int64(k.Match))
	return at + 2
}

func bindKeyword(st *zs.Stmt, at int, v upsert.Keyword) int {
	st.BindText(at, v.Text)
	return bindKeywordSettings(st, at+1, &v.KeywordSettings)
}

func bindNegative(st *zs.Stmt, at int, v upsert.Negative) int {
	st.BindText(at, v.Text)
	st.BindBool(at+1, v.Enabled)
	return at + 2
}
