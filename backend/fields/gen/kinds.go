package main

import (
	"strings"

	"adshard/backend/fields"
)

// kind says how the values of a kind are written in each form. In forms $GO and $HAS are fields of the settings v, and $COLUMN is
// the place of the column.
type kind struct {
	name  string
	forms map[string]string
}

// urls is the regular expression for URLs in schemas.
const urls = `^[\t-\r ]*([hH][tT][tT][pP][sS]?://[^/?#\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*)?$`

var text = map[string]string{
	"type": "string", "zero": `""`, "check": "atMost($MAX)", "set": `$GO != ""`,
	"schema": `{"type": ["string", "null"], "maxLength": $MAX, "description": "$SCHEMA"}`,
	"api":    `type: [string, "null"], maxLength: $MAX, x-max-bytes: $MAX, pattern: '^[^\x00]*$', description: '$SCHEMA'`, "api item": "type: string",
	"item": "it.$API = $GO", "set when": "it.$API != ``", "set value": "it.$API", "example": "…",
	"json read": "s.value($FIELD, $PARSE)", "cell read": "patch(&s.row, $CELL, $PARSE)", "cell write": "cellOf($PATCH, values.AsIs)",
	"say":         "l.orNull($FIELD, $GO)",
	"sqlite bind": "st.BindText($COLUMN, $GO)", "sqlite arg": "$GO", "sqlite scan": "$GO = st.ColumnText($COLUMN)", "sqlite sum": "text(h, $GO)",
	"sqlite column": "TEXT NOT NULL DEFAULT ''",
	"pg to":         "&$GO", "pg arg": "$GO", "pg array": "text", "pg go": "string", "pg column": `text COLLATE "C" NOT NULL DEFAULT ''`,
}

// choice has the forms of a Choice.
var choice = map[string]string{
	"schema": `{"type": "string", $PATTERN"description": "$SCHEMA"}`, "api": "type: string, enum: [$0, $1]", "api item": "type: string, enum: [$0, $1]",
	"item": "it.$API = api.Item$API(oneOf($GO, `$1`, `$0`))", "set when": "it.$API != ``", "set value": "string(it.$API)", "example": "$1|$0",
	"json read": "s.choice($FIELD, $PARSE)", "cell read": "s.row.choice($CELL, $PARSE)", "cell write": "cellOf($PATCH, values.OneOf(`$C1`, `$C0`))",
	"say":  "l.text($FIELD, values.OneOf(`$1`, `$0`)($GO))",
	"type": "bool", "zero": "false", "set": "$GO",
	"sqlite arg": "$GO", "sqlite scan": "$GO = st.ColumnBool($COLUMN)", "sqlite column": "INTEGER NOT NULL DEFAULT 0 CHECK ($SQL IN (0, 1))",
	"pg to": "&$GO", "pg arg": "$GO", "pg array": "boolean", "pg go": "bool", "pg column": "boolean NOT NULL DEFAULT false",
}

// kinds has the kinds of properties.
var kinds = map[fields.Kind]kind{
	fields.Money: {"money", map[string]string{
		"schema": `{$MONEY}`, "api": `type: [integer, "null"], format: uint64, minimum: 0, maximum: $MAX`,
		"api item": `type: integer, format: uint64, minimum: 0, x-go-type-skip-optional-pointer: false`,
		"item":     "it.$API = optional($HAS, $GO)", "set when": "it.$API != nil", "set value": "strconv.FormatUint(*it.$API, 10)", "example": "450000",
		"json read": "s.micros($FIELD, $MAX)", "cell read": "patch(&s.row, $CELL, $PARSE)", "cell write": "cellOf($PATCH, values.FormatMoney)", "say": "l.number($FIELD, $HAS, $GO)",
		"type": "uint64", "set": "$HAS", "sqlite bind": "bindOptional(st, $COLUMN, optional{$HAS, $GO})",
		"sqlite arg": "optional{$HAS, $GO}", "sqlite scan": "$GO, $HAS = columnNumber(st, $COLUMN)", "sqlite column": "INTEGER CHECK ($SQL >= 0)",
		"pg to": "&r.$SQL", "pg var": "$SQL *int64", "pg set": "$GO, $HAS = number(r.$SQL)", "pg arg": "nullable($HAS, $GO)", "pg array": "bigint", "pg go": "*int64",
		"pg column": "bigint CHECK ($SQL >= 0)",
	}},
	fields.Modifier: {"modifier", map[string]string{
		"schema": `{"$ref": "#/$defs/modifier"}`, "api": `type: [number, "null"], minimum: -100, maximum: 900, multipleOf: 0.1, description: Per cent.`,
		"api item": `type: number, format: double, minimum: -100, maximum: 900, x-go-type-skip-optional-pointer: false`,
		"item":     "it.$API = modifier($GO)", "set when": "it.$API != nil", "set value": "strconv.FormatFloat(*it.$API, 'f', -1, 64)", "example": "-20",
		"json read": "jsonNumber(s, $FIELD, values.ErrPercent, values.ParsePercent)", "cell read": "patch(&s.row, $CELL, values.ParsePercent)", "cell write": "cellOf($PATCH, values.FormatPercent)",
		"say":  "l.modifier($FIELD, $GO)",
		"type": "uint16", "check": "checkModifier", "set": "$GO.Set",
		"sqlite arg": "optional{$GO.Set, uint64($GO.Permille)}", "sqlite scan": "$GO = columnModifier(st, $COLUMN)",
		"sqlite column": "INTEGER CHECK ($SQL BETWEEN 0 AND 10000)",
		"pg to":         "&r.$SQL", "pg var": "$SQL *int16", "pg set": "$GO = modifier(r.$SQL)", "pg arg": "nullable($GO.Set, uint64($GO.Permille))",
		"pg column": "smallint CHECK ($SQL BETWEEN 0 AND 10000)",
	}},
	fields.Quality: {"quality", map[string]string{
		"schema": `{"type": ["integer", "null"], "minimum": 1, "maximum": 10, "description": "$SCHEMA"}`,
		"api":    `type: [integer, "null"], minimum: 1, maximum: 10`, "api item": `type: integer, minimum: 1, maximum: 10`,
		"item": "it.$API = int($GO)", "set when": "it.$API != 0", "set value": "strconv.Itoa(it.$API)", "example": "7",
		"json read": "jsonNumber(s, $FIELD, values.ErrQuality, values.ParseQuality)", "cell read": "patch(&s.row, $CELL, values.ParseQuality)", "cell write": "cellOf($PATCH, values.FormatQuality)",
		"say":  "l.number($FIELD, true, uint64($GO))",
		"type": "uint8", "zero": "DefaultQuality", "check": "checkQuality", "sqlite bind": "st.BindInt64($COLUMN, int64($GO))",
		"sqlite arg": "int64($GO)", "sqlite scan": "$GO = uint8(st.ColumnInt64($COLUMN))",
		"pg to": "&$GO", "pg arg": "int16($GO)", "pg array": "smallint", "pg go": "int16",
	}},
	fields.Learned: {"learned", map[string]string{
		"type": "Learned", "zero": "0", "check": "checkLearned", "set": "$GO != 0", "sqlite bind": "st.BindInt64($COLUMN, int64($GO))",
		"sqlite arg": "int64($GO)", "sqlite scan": "$GO = backend.Learned(st.ColumnInt64($COLUMN))", "sqlite sum": "h.number(uint64($GO))",
		"pg to": "&$GO", "pg arg": "int64($GO)", "pg array": "bigint", "pg go": "int64",
	}},
	fields.Choice: {"choice", choice},
	fields.Method: {"method", with(choice, map[string]string{
		"schema": `{"type": ["string", "null"], $PATTERN"description": "$SCHEMA"}`, "api": "type: [string, \"null\"], pattern: '^($0|$1)$', description: '$SCHEMA'",
		"item":      "it.$API = api.Item$API(oneOf($GO, `$1`, ``))",
		"json read": "s.choiceOrNull($FIELD, $PARSE)", "cell read": "patch(&s.row, $CELL, values.ParseMethod)"})},
	fields.Languages: {"languages", map[string]string{
		"schema":   `{"type": ["array", "null"], "items": {"type": "string"}, "minItems": 1, "description": "$SCHEMA"}`,
		"api":      `type: [array, "null"], minItems: 1, items: {type: string, format: language}, description: 'Codes, or names in English.'`,
		"api item": "type: array, items: {type: string}",
		"item":     "it.$API = $GO.Codes()", "set when": "len(it.$API) > 0", "set value": "strings.Join(it.$API, `,`)", "example": "cs,en",
		"json read": "s.languages()", "cell write": "cellOf($PATCH, values.FormatLanguages)", "say": "l.languages($FIELD, $GO)",
		"type": "Languages", "zero": `""`,
		"sqlite arg": "string($GO)", "sqlite scan": "$GO = backend.Languages(st.ColumnText($COLUMN))",
		"pg to": "(*string)(&$GO)", "pg arg": "string($GO)",
	}},
	fields.Zone: {"zone", with(text, map[string]string{
		"schema": `{"type": ["string", "null"], "description": "$SCHEMA"}`,
		"api":    `type: [string, "null"], format: time-zone, description: An IANA name; UTC by default.`, "example": "Europe/Prague",
		"json read": "s.value($FIELD, s.zones.Parse)", "cell read": "patch(&s.row, $CELL, s.zones.Parse)", "say": "l.text($FIELD, $GO)",
		"zero": "DefaultTimeZone", "set": "$GO != backend.DefaultTimeZone"})},
	fields.Text: {"text", text},
	fields.Date: {"date", with(text, map[string]string{
		"check":     "checkDate",
		"schema":    `{"type": ["string", "null"], "pattern": "^\\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\\s*$", "description": "$SCHEMA"}`,
		"api":       `type: [string, "null"], pattern: '^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*$', description: '$SCHEMA'`,
		"json read": "s.value($FIELD, values.ParseDate)", "cell read": "s.row.date($CELL)", "example": "2026-03-31"})},
	fields.Value: {"value", with(text, map[string]string{
		"check":  "checkValue(targeting.Parse$API)",
		"schema": `{"$ref": "#/$defs/$NAME"}`,
		"api":    `$ref: '#/components/schemas/$API'`, "api item": `$ref: '#/components/schemas/$API'`,
		"item": "it.$API = value($GO)", "set when": "it.$API != nil", "set value": "string(it.$API)", "example": "JSON",
		"cell read": "patch(&s.row, $CELL, values.Parse$API)", "cell write": "cellOf($PATCH, values.Format$API)",
		"json read": "jsonValueOf(s, $FIELD, targeting.Parse$API)", "say": "l.value($FIELD, $GO)"})},
	fields.URL: {"url", with(text, map[string]string{
		"json read": "s.value($FIELD, values.ParseURL)", "cell read": "patch(&s.row, $CELL, values.ParseURL)", "example": "https://acme.example/",
		"schema": `{"type": ["string", "null"], "maxLength": $MAX, "pattern": "` + strings.ReplaceAll(urls, `\`, `\\`) + `", "description": "$SCHEMA"}`,
		"api":    `type: [string, "null"], maxLength: $MAX, x-max-bytes: $MAX, pattern: '` + urls + `', description: '$SCHEMA'`,
	})},
}

// with returns forms in which others replace those of the same name.
func with(forms, others map[string]string) map[string]string {
	out := map[string]string{}
	for _, part := range []map[string]string{forms, others} {
		for name, text := range part {
			out[name] = text
		}
	}
	return out
}
