// Package apiclient calls the HTTP ports of running programs. Its flags say where the programs are and who calls.
package apiclient
