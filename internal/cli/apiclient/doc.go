// Package apiclient calls the HTTP ports of running programs, with the flags
// that say where they are and who calls.
package apiclient
