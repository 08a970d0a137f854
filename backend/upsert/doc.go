// Package upsert is what the relational backends share: the upserts of a backend.Tx
// (patches applied to the values of rows, natural keys), and a cache that finds out
// which rows of a transaction differ from the database, so that a repeated import writes nothing.
//
// Goals: backends contain only the SQL. Non-goals: SQL, locks, transactions.
package upsert
