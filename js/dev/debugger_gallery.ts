import "./debugger_fixtures.ts";
