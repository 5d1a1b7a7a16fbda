// The tables there are, with the columns that PostgreSQL 15 gives them.
#include "sql/system/table_list.h"

namespace tidemark::sql::system_detail {
namespace {

constexpr SystemTable kTables[] = {
    {"information_schema", "character_sets", 13250, 'v', nullptr,
     "character_set_catalog text, character_set_schema text, character_set_name text, "
     "character_repertoire text, form_of_use text, default_collate_catalog text, "
     "default_collate_schema text, default_collate_name text"},
    {"information_schema", "check_constraints", 13260, 'v', nullptr,
     "constraint_catalog text, constraint_schema text, constraint_name text, check_clause text"},
    {"information_schema", "column_privileges", 13285, 'v', nullptr,
     "grantor text, grantee text, table_catalog text, table_schema text, table_name text, "
     "column_name text, privilege_type text, is_grantable text"},
    {"information_schema", "columns", 13295, 'v', rows_of_schema_columns,
     "table_catalog text, table_schema text, table_name text, column_name text, ordinal_position num, "
     "column_default text, is_nullable text, data_type text, character_maximum_length num, "
     "character_octet_length num, numeric_precision num, numeric_precision_radix num, "
     "numeric_scale num, datetime_precision num, interval_type text, interval_precision num, "
     "character_set_catalog text, character_set_schema text, character_set_name text, "
     "collation_catalog text, collation_schema text, collation_name text, domain_catalog text, "
     "domain_schema text, domain_name text, udt_catalog text, udt_schema text, udt_name text, "
     "scope_catalog text, scope_schema text, scope_name text, maximum_cardinality num, "
     "dtd_identifier text, is_self_referencing text, is_identity text, identity_generation text, "
     "identity_start text, identity_increment text, identity_maximum text, identity_minimum text, "
     "identity_cycle text, is_generated text, generation_expression text, is_updatable text"},
    {"information_schema", "constraint_column_usage", 13300, 'v', nullptr,
     "table_catalog text, table_schema text, table_name text, column_name text, "
     "constraint_catalog text, constraint_schema text, constraint_name text"},
    {"information_schema", "key_column_usage", 13329, 'v', rows_of_schema_key_column_usage,
     "constraint_catalog text, constraint_schema text, constraint_name text, table_catalog text, "
     "table_schema text, table_name text, column_name text, ordinal_position num, "
     "position_in_unique_constraint num"},
    {"information_schema", "referential_constraints", 13339, 'v', nullptr,
     "constraint_catalog text, constraint_schema text, constraint_name text, "
     "unique_constraint_catalog text, unique_constraint_schema text, unique_constraint_name text, "
     "match_option text, update_rule text, delete_rule text"},
    {"information_schema", "schemata", 13382, 'v', rows_of_schema_schemata,
     "catalog_name text, schema_name text, schema_owner text, default_character_set_catalog text, "
     "default_character_set_schema text, default_character_set_name text, sql_path text"},
    {"information_schema", "sequences", 13386, 'v', nullptr,
     "sequence_catalog text, sequence_schema text, sequence_name text, data_type text, "
     "numeric_precision num, numeric_precision_radix num, numeric_scale num, start_value text, "
     "minimum_value text, maximum_value text, increment text, cycle_option text"},
    {"information_schema", "table_constraints", 13411, 'v', rows_of_schema_table_constraints,
     "constraint_catalog text, constraint_schema text, constraint_name text, table_catalog text, "
     "table_schema text, table_name text, constraint_type text, is_deferrable text, "
     "initially_deferred text, enforced text, nulls_distinct text"},
    {"information_schema", "table_privileges", 13416, 'v', nullptr,
     "grantor text, grantee text, table_catalog text, table_schema text, table_name text, "
     "privilege_type text, is_grantable text, with_hierarchy text"},
    {"information_schema", "tables", 13425, 'v', rows_of_schema_tables,
     "table_catalog text, table_schema text, table_name text, table_type text, "
     "self_referencing_column_name text, reference_generation text, user_defined_type_catalog text, "
     "user_defined_type_schema text, user_defined_type_name text, is_insertable_into text, "
     "is_typed text, commit_action text"},
    {"information_schema", "triggers", 13440, 'v', nullptr,
     "trigger_catalog text, trigger_schema text, trigger_name text, event_manipulation text, "
     "event_object_catalog text, event_object_schema text, event_object_table text, action_order num, "
     "action_condition text, action_statement text, action_orientation text, action_timing text, "
     "action_reference_old_table text, action_reference_new_table text, action_reference_old_row text, "
     "action_reference_new_row text, created timestamptz"},
    {"information_schema", "views", 13483, 'v', rows_of_schema_views,
     "table_catalog text, table_schema text, table_name text, view_definition text, check_option text, "
     "is_updatable text, is_insertable_into text, is_trigger_updatable text, is_trigger_deletable text, "
     "is_trigger_insertable_into text"},
    {"pg_catalog", "pg_aggregate", 2600, 'r', nullptr,
     "aggfnoid oid, aggkind char, aggnumdirectargs int2, aggtransfn oid, aggfinalfn oid, "
     "aggcombinefn oid, aggserialfn oid, aggdeserialfn oid, aggmtransfn oid, aggminvtransfn oid, "
     "aggmfinalfn oid, aggfinalextra bool, aggmfinalextra bool, aggfinalmodify char, "
     "aggmfinalmodify char, aggsortop oid, aggtranstype oid, aggtransspace int4, aggmtranstype oid, "
     "aggmtransspace int4, agginitval text, aggminitval text"},
    {"pg_catalog", "pg_am", 2601, 'r', rows_of_pg_am, "oid oid, amname name, amhandler oid, amtype char"},
    {"pg_catalog", "pg_attrdef", 2604, 'r', rows_of_pg_attrdef,
     "oid oid, adrelid oid, adnum int2, adbin text"},
    {"pg_catalog", "pg_attribute", 1249, 'r', rows_of_pg_attribute,
     "attrelid oid, attname name, atttypid oid, attstattarget int4, attlen int2, attnum int2, "
     "attndims int4, attcacheoff int4, atttypmod int4, attbyval bool, attalign char, attstorage char, "
     "attcompression char, attnotnull bool, atthasdef bool, atthasmissing bool, attidentity char, "
     "attgenerated char, attisdropped bool, attislocal bool, attinhcount int4, attcollation oid, "
     "attacl text, attoptions text, attfdwoptions text, attmissingval text"},
    {"pg_catalog", "pg_auth_members", 1261, 'r', nullptr,
     "roleid oid, member oid, grantor oid, admin_option bool"},
    {"pg_catalog", "pg_authid", 1260, 'r', rows_of_pg_authid,
     "oid oid, rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, "
     "rolcanlogin bool, rolreplication bool, rolbypassrls bool, rolconnlimit int4, rolpassword text, "
     "rolvaliduntil timestamptz"},
    {"pg_catalog", "pg_available_extensions", 12081, 'v', nullptr,
     "name name, default_version text, installed_version text, comment text"},
    {"pg_catalog", "pg_cast", 2605, 'r', nullptr,
     "oid oid, castsource oid, casttarget oid, castfunc oid, castcontext char, castmethod char"},
    {"pg_catalog", "pg_class", 1259, 'r', rows_of_pg_class,
     "oid oid, relname name, relnamespace oid, reltype oid, reloftype oid, relowner oid, relam oid, "
     "relfilenode oid, reltablespace oid, relpages int4, reltuples float8, relallvisible int4, "
     "reltoastrelid oid, relhasindex bool, relisshared bool, relpersistence char, relkind char, "
     "relnatts int2, relchecks int2, relhasrules bool, relhastriggers bool, relhassubclass bool, "
     "relrowsecurity bool, relforcerowsecurity bool, relispopulated bool, relreplident char, "
     "relispartition bool, relrewrite oid, relfrozenxid oid, relminmxid oid, relacl text, "
     "reloptions text, relpartbound text"},
    {"pg_catalog", "pg_collation", 3456, 'r', rows_of_pg_collation,
     "oid oid, collname name, collnamespace oid, collowner oid, collprovider char, "
     "collisdeterministic bool, collencoding int4, collcollate text, collctype text, "
     "colliculocale text, collversion text"},
    {"pg_catalog", "pg_constraint", 2606, 'r', rows_of_pg_constraint,
     "oid oid, conname name, connamespace oid, contype char, condeferrable bool, condeferred bool, "
     "convalidated bool, conrelid oid, contypid oid, conindid oid, conparentid oid, confrelid oid, "
     "confupdtype char, confdeltype char, confmatchtype char, conislocal bool, coninhcount int4, "
     "connoinherit bool, conkey text, confkey text, conpfeqop text, conppeqop text, conffeqop text, "
     "confdelsetcols text, conexclop text, conbin text"},
    {"pg_catalog", "pg_conversion", 2607, 'r', nullptr,
     "oid oid, conname name, connamespace oid, conowner oid, conforencoding int4, contoencoding int4, "
     "conproc oid, condefault bool"},
    {"pg_catalog", "pg_cursors", 12077, 'v', nullptr,
     "name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool, "
     "creation_time timestamptz"},
    {"pg_catalog", "pg_database", 1262, 'r', rows_of_pg_database,
     "oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool, "
     "datallowconn bool, datconnlimit int4, datfrozenxid oid, datminmxid oid, dattablespace oid, "
     "datcollate text, datctype text, daticulocale text, datcollversion text, datacl text"},
    {"pg_catalog", "pg_db_role_setting", 2964, 'r', nullptr, "setdatabase oid, setrole oid, setconfig text"},
    {"pg_catalog", "pg_default_acl", 826, 'r', nullptr,
     "oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype char, defaclacl text"},
    {"pg_catalog", "pg_depend", 2608, 'r', nullptr,
     "classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, refobjsubid int4, "
     "deptype char"},
    {"pg_catalog", "pg_description", 2609, 'r', nullptr,
     "objoid oid, classoid oid, objsubid int4, description text"},
    {"pg_catalog", "pg_enum", 3501, 'r', nullptr,
     "oid oid, enumtypid oid, enumsortorder float8, enumlabel name"},
    {"pg_catalog", "pg_event_trigger", 3466, 'r', nullptr,
     "oid oid, evtname name, evtevent name, evtowner oid, evtfoid oid, evtenabled char, evttags text"},
    {"pg_catalog", "pg_extension", 3079, 'r', nullptr,
     "oid oid, extname name, extowner oid, extnamespace oid, extrelocatable bool, extversion text, "
     "extconfig text, extcondition text"},
    {"pg_catalog", "pg_foreign_data_wrapper", 2328, 'r', nullptr,
     "oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, fdwacl text, "
     "fdwoptions text"},
    {"pg_catalog", "pg_foreign_server", 1417, 'r', nullptr,
     "oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text, srvacl text, "
     "srvoptions text"},
    {"pg_catalog", "pg_foreign_table", 3118, 'r', nullptr, "ftrelid oid, ftserver oid, ftoptions text"},
    {"pg_catalog", "pg_group", 12010, 'v', nullptr, "groname name, grosysid oid, grolist text"},
    {"pg_catalog", "pg_index", 2610, 'r', rows_of_pg_index,
     "indexrelid oid, indrelid oid, indnatts int2, indnkeyatts int2, indisunique bool, "
     "indnullsnotdistinct bool, indisprimary bool, indisexclusion bool, indimmediate bool, "
     "indisclustered bool, indisvalid bool, indcheckxmin bool, indisready bool, indislive bool, "
     "indisreplident bool, indkey text, indcollation text, indclass text, indoption text, "
     "indexprs text, indpred text"},
    {"pg_catalog", "pg_indexes", 12043, 'v', rows_of_pg_indexes,
     "schemaname name, tablename name, indexname name, tablespace name, indexdef text"},
    {"pg_catalog", "pg_inherits", 2611, 'r', nullptr,
     "inhrelid oid, inhparent oid, inhseqno int4, inhdetachpending bool"},
    {"pg_catalog", "pg_language", 2612, 'r', rows_of_pg_language,
     "oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool, lanplcallfoid oid, "
     "laninline oid, lanvalidator oid, lanacl text"},
    {"pg_catalog", "pg_locks", 12073, 'v', nullptr,
     "locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, "
     "transactionid oid, classid oid, objid oid, objsubid int2, virtualtransaction text, pid int4, "
     "mode text, granted bool, fastpath bool, waitstart timestamptz"},
    {"pg_catalog", "pg_matviews", 12038, 'v', rows_of_pg_matviews,
     "schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool, "
     "ispopulated bool, definition text"},
    {"pg_catalog", "pg_namespace", 2615, 'r', rows_of_pg_namespace,
     "oid oid, nspname name, nspowner oid, nspacl text"},
    {"pg_catalog", "pg_opclass", 2616, 'r', nullptr,
     "oid oid, opcmethod oid, opcname name, opcnamespace oid, opcowner oid, opcfamily oid, "
     "opcintype oid, opcdefault bool, opckeytype oid"},
    {"pg_catalog", "pg_operator", 2617, 'r', nullptr,
     "oid oid, oprname name, oprnamespace oid, oprowner oid, oprkind char, oprcanmerge bool, "
     "oprcanhash bool, oprleft oid, oprright oid, oprresult oid, oprcom oid, oprnegate oid, "
     "oprcode oid, oprrest oid, oprjoin oid"},
    {"pg_catalog", "pg_opfamily", 2753, 'r', nullptr,
     "oid oid, opfmethod oid, opfname name, opfnamespace oid, opfowner oid"},
    {"pg_catalog", "pg_partitioned_table", 3350, 'r', nullptr,
     "partrelid oid, partstrat char, partnatts int2, partdefid oid, partattrs text, partclass text, "
     "partcollation text, partexprs text"},
    {"pg_catalog", "pg_policies", 12018, 'v', nullptr,
     "schemaname name, tablename name, policyname name, permissive text, roles text, cmd text, "
     "qual text, with_check text"},
    {"pg_catalog", "pg_policy", 3256, 'r', nullptr,
     "oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles text, "
     "polqual text, polwithcheck text"},
    {"pg_catalog", "pg_prepared_statements", 12095, 'v', nullptr,
     "name text, statement text, prepare_time timestamptz, parameter_types text, from_sql bool, "
     "generic_plans int8, custom_plans int8"},
    {"pg_catalog", "pg_proc", 1255, 'r', rows_of_pg_proc,
     "oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost float8, "
     "prorows float8, provariadic oid, prosupport oid, prokind char, prosecdef bool, proleakproof bool, "
     "proisstrict bool, proretset bool, provolatile char, proparallel char, pronargs int2, "
     "pronargdefaults int2, prorettype oid, proargtypes text, proallargtypes text, proargmodes text, "
     "proargnames text, proargdefaults text, protrftypes text, prosrc text, probin text, "
     "prosqlbody text, proconfig text, proacl text"},
    {"pg_catalog", "pg_publication", 6104, 'r', nullptr,
     "oid oid, pubname name, pubowner oid, puballtables bool, pubinsert bool, pubupdate bool, "
     "pubdelete bool, pubtruncate bool, pubviaroot bool"},
    {"pg_catalog", "pg_publication_namespace", 6237, 'r', nullptr, "oid oid, pnpubid oid, pnnspid oid"},
    {"pg_catalog", "pg_publication_rel", 6106, 'r', nullptr,
     "oid oid, prpubid oid, prrelid oid, prqual text, prattrs text"},
    {"pg_catalog", "pg_range", 3541, 'r', nullptr,
     "rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid, rngsubopc oid, "
     "rngcanonical oid, rngsubdiff oid"},
    {"pg_catalog", "pg_rewrite", 2618, 'r', nullptr,
     "oid oid, rulename name, ev_class oid, ev_type char, ev_enabled char, is_instead bool, "
     "ev_qual text, ev_action text"},
    {"pg_catalog", "pg_roles", 12000, 'v', rows_of_pg_roles,
     "rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool, "
     "rolcanlogin bool, rolreplication bool, rolconnlimit int4, rolpassword text, "
     "rolvaliduntil timestamptz, rolbypassrls bool, rolconfig text, oid oid"},
    {"pg_catalog", "pg_sequence", 2224, 'r', nullptr,
     "seqrelid oid, seqtypid oid, seqstart int8, seqincrement int8, seqmax int8, seqmin int8, "
     "seqcache int8, seqcycle bool"},
    {"pg_catalog", "pg_sequences", 12048, 'v', nullptr,
     "schemaname name, sequencename name, sequenceowner name, data_type text, start_value int8, "
     "min_value int8, max_value int8, increment_by int8, cycle bool, cache_size int8, last_value int8"},
    {"pg_catalog", "pg_settings", 12104, 'v', rows_of_pg_settings,
     "name text, setting text, unit text, category text, short_desc text, extra_desc text, "
     "context text, vartype text, source text, min_val text, max_val text, enumvals text, "
     "boot_val text, reset_val text, sourcefile text, sourceline int4, pending_restart bool"},
    {"pg_catalog", "pg_shdescription", 2396, 'r', nullptr, "objoid oid, classoid oid, description text"},
    {"pg_catalog", "pg_stat_activity", 12222, 'v', nullptr,
     "datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name, "
     "application_name text, client_addr text, client_hostname text, client_port int4, "
     "backend_start timestamptz, xact_start timestamptz, query_start timestamptz, "
     "state_change timestamptz, wait_event_type text, wait_event text, state text, backend_xid oid, "
     "backend_xmin oid, query_id int8, query text, backend_type text"},
    {"pg_catalog", "pg_stat_user_tables", 12161, 'v', nullptr,
     "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, "
     "idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, "
     "n_live_tup int8, n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, "
     "last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz, "
     "last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8, analyze_count int8, "
     "autoanalyze_count int8"},
    {"pg_catalog", "pg_statistic_ext", 3381, 'r', nullptr,
     "oid oid, stxrelid oid, stxname name, stxnamespace oid, stxowner oid, stxstattarget int4, "
     "stxkeys text, stxkind text, stxexprs text"},
    {"pg_catalog", "pg_subscription", 6100, 'r', nullptr,
     "oid oid, subdbid oid, subskiplsn text, subname name, subowner oid, subenabled bool, "
     "subbinary bool, substream bool, subtwophasestate char, subdisableonerr bool, subconninfo text, "
     "subslotname name, subsynccommit text, subpublications text"},
    {"pg_catalog", "pg_tables", 12033, 'v', rows_of_pg_tables,
     "schemaname name, tablename name, tableowner name, tablespace name, hasindexes bool, "
     "hasrules bool, hastriggers bool, rowsecurity bool"},
    {"pg_catalog", "pg_tablespace", 1213, 'r', rows_of_pg_tablespace,
     "oid oid, spcname name, spcowner oid, spcacl text, spcoptions text"},
    {"pg_catalog", "pg_timezone_names", 12126, 'v', nullptr,
     "name text, abbrev text, utc_offset text, is_dst bool"},
    {"pg_catalog", "pg_trigger", 2620, 'r', nullptr,
     "oid oid, tgrelid oid, tgparentid oid, tgname name, tgfoid oid, tgtype int2, tgenabled char, "
     "tgisinternal bool, tgconstrrelid oid, tgconstrindid oid, tgconstraint oid, tgdeferrable bool, "
     "tginitdeferred bool, tgnargs int2, tgattr text, tgargs text, tgqual text, tgoldtable name, "
     "tgnewtable name"},
    {"pg_catalog", "pg_type", 1247, 'r', rows_of_pg_type,
     "oid oid, typname name, typnamespace oid, typowner oid, typlen int2, typbyval bool, typtype char, "
     "typcategory char, typispreferred bool, typisdefined bool, typdelim char, typrelid oid, "
     "typsubscript oid, typelem oid, typarray oid, typinput oid, typoutput oid, typreceive oid, "
     "typsend oid, typmodin oid, typmodout oid, typanalyze oid, typalign char, typstorage char, "
     "typnotnull bool, typbasetype oid, typtypmod int4, typndims int4, typcollation oid, "
     "typdefaultbin text, typdefault text, typacl text"},
    {"pg_catalog", "pg_user", 12014, 'v', rows_of_pg_user,
     "usename name, usesysid oid, usecreatedb bool, usesuper bool, userepl bool, usebypassrls bool, "
     "passwd text, valuntil timestamptz, useconfig text"},
    {"pg_catalog", "pg_views", 12028, 'v', rows_of_pg_views,
     "schemaname name, viewname name, viewowner name, definition text"},
    // Written as a function in PostgreSQL.
    {"pg_catalog", "pg_get_keywords", 12900, 'v', rows_of_pg_get_keywords,
     "word text, catcode char, barelabel bool, catdesc text, baredesc text"},
    {"tidemark", "tables", 12910, 'v', rows_of_tidemark_tables,
     "id int8, name name, kind text, definition text, key text, created int8"},
    {"tidemark", "views", 12911, 'v', rows_of_tidemark_views,
     "id int8, name name, definition text, sources text, state text, lag_records count, lag_ms rate, "
     "lag_region count, lag_lane count, backfill_percent rate, backfill_rows_per_second count, "
     "backfill_rows_per_second_max count, backfill_seconds_left rate"},
    {"tidemark", "regions", 12912, 'v', rows_of_tidemark_regions,
     "region int8, first_shard int8, end_shard int8, generation int8, owner text, replicas text, sealed "
     "bool, "
     "log_floor int8"},
    {"tidemark", "ring", 12913, 'v', rows_of_tidemark_ring,
     "version int8, first_shard int8, end_shard int8, view_manager text, process text"},
    {"tidemark", "nodes", 12914, 'v', rows_of_tidemark_nodes,
     "name name, address text, sql_address text, weight int4"},
    {"tidemark", "view_managers", 12915, 'v', rows_of_tidemark_view_managers,
     "name name, address text, weight int4, standby bool"},
};

}  // namespace

std::span<const SystemTable> table_list() {
  return kTables;
}

}  // namespace tidemark::sql::system_detail
