import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;

/** PostgreSQL's JDBC driver: prepared statements, binary results, batches, COPY, cancel, errors, metadata. */
public final class JdbcTest {
  private static Connection connect(String... settings) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", System.getenv("PGUSER"));
    for (int i = 0; i < settings.length; i += 2) properties.setProperty(settings[i], settings[i + 1]);
    String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/"
        + System.getenv("PGDATABASE");
    return DriverManager.getConnection(url, properties);
  }

  private static void check(Object wanted, Object got) {
    if (!String.valueOf(wanted).equals(String.valueOf(got))) {
      throw new AssertionError("wanted " + wanted + ", got " + got);
    }
  }

  private static List<String> column(ResultSet rows, String name) throws SQLException {
    List<String> out = new ArrayList<>();
    while (rows.next()) out.add(rows.getString(name));
    rows.close();
    return out;
  }

  private static void writes(Connection connection) throws Exception {
    try (Statement statement = connection.createStatement()) {
      statement.execute("create table parts (maker text, id integer, name text, price numeric(10,2), "
          + "made timestamp, code uuid, raw bytea, ok boolean, big bigint, real double precision, "
          + "primary key (maker, id))");
    }
    try (PreparedStatement insert =
             connection.prepareStatement("insert into parts (maker, id, name, price, ok, big, real) "
                 + "values (?, ?, ?, ?, ?, ?, ?)")) {
      for (int i = 0; i < 20; i++) {
        insert.setString(1, i % 2 == 0 ? "even" : "odd");
        insert.setInt(2, i);
        insert.setString(3, "part " + i);
        insert.setBigDecimal(4, new BigDecimal(i).movePointLeft(1).setScale(2));
        insert.setBoolean(5, i % 3 == 0);
        insert.setLong(6, 1L << (i + 20));
        insert.setDouble(7, i / 4.0);
        insert.addBatch();
      }
      check(20, insert.executeBatch().length);
    }
    CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
    check(2L, copy.copyIn("copy parts (maker, id, name) from stdin with (format csv)",
        new java.io.StringReader("copied,1,one\ncopied,2,two\n")));
  }

  /** More runs than the driver's threshold: named statements and binary results. */
  private static void reads(Connection connection) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(
             "select id, name, price, ok, big, real from parts where maker = ? and id = ?")) {
      for (int i = 0; i < 20; i++) {
        select.setString(1, i % 2 == 0 ? "even" : "odd");
        select.setInt(2, i);
        try (ResultSet rows = select.executeQuery()) {
          check(true, rows.next());
          check(i, rows.getInt("id"));
          check("part " + i, rows.getString("name"));
          check(new BigDecimal(i).movePointLeft(1).setScale(2), rows.getBigDecimal("price"));
          check(i % 3 == 0, rows.getBoolean("ok"));
          check(1L << (i + 20), rows.getLong("big"));
          check(i / 4.0, rows.getDouble("real"));
          check(false, rows.next());
        }
      }
      ResultSetMetaData meta = select.getMetaData();
      check(6, meta.getColumnCount());
      check(Types.NUMERIC, meta.getColumnType(3));
    }
  }

  private static void errors(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String[] wrong : new String[][] {{"select nope", "42703"}, {"select 1/0", "22012"}}) {
        try {
          statement.executeQuery(wrong[0]);
          throw new AssertionError(wrong[0] + " did not fail");
        } catch (SQLException error) {
          check(wrong[1], error.getSQLState());
        }
      }
      try (ResultSet rows = statement.executeQuery("select 1")) {
        check(true, rows.next());
      }
    }
  }

  private static void transactions(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate("insert into parts (maker, id, name) values ('kept', 1, 'a')");
      connection.commit();
      statement.executeUpdate("insert into parts (maker, id, name) values ('undone', 1, 'a')");
      connection.rollback();
      check("[kept]", column(statement.executeQuery(
          "select maker from parts where maker in ('kept', 'undone')"), "maker"));
      connection.commit();
    }
    connection.setAutoCommit(true);
  }

  /** With a fetch size the driver asks for some rows at a time, and may do other things in between. */
  private static void pieces(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement series = connection.prepareStatement("select n from generate_series(1, ?) n");
         Statement other = connection.createStatement()) {
      series.setFetchSize(100);
      series.setInt(1, 5000);
      ResultSet rows = series.executeQuery();
      int wanted = 0;
      while (rows.next()) {
        check(++wanted, rows.getInt(1));
        if (wanted % 1000 == 0) check("[x]", column(other.executeQuery("select 'x' as t"), "t"));
      }
      check(5000, wanted);
      series.setInt(1, 1000000);
      rows = series.executeQuery();
      check(true, rows.next());
      rows.close();  // The rest is not wanted.
      connection.commit();
    }
    connection.setAutoCommit(true);
  }

  /** The driver cancels, by a connection of its own, what takes longer than it may. */
  private static void cancel(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.setQueryTimeout(1);
      try {
        statement.executeQuery("select count(*) from generate_series(1, 100000) a(n), "
            + "generate_series(1, 100000) b(n) where a.n + b.n < 0");
        throw new AssertionError("was not cancelled");
      } catch (SQLException error) {
        check("57014", error.getSQLState());
      }
    }
  }

  private static void metadata(Connection connection) throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    check("[parts]", column(meta.getTables(null, "public", "parts", new String[] {"TABLE"}), "TABLE_NAME"));
    check("[maker, id, name, price, made, code, raw, ok, big, real]",
        column(meta.getColumns(null, "public", "parts", "%"), "COLUMN_NAME"));
    List<String> types = column(meta.getColumns(null, "public", "parts", "%"), "TYPE_NAME");
    check("[text, int4, text, numeric, timestamp, uuid, bytea, bool, int8, float8]", types);
    check("[maker, id]", keyInOrder(meta.getPrimaryKeys(null, "public", "parts")));
    check("[parts_pkey, parts_pkey]",
        column(meta.getIndexInfo(null, "public", "parts", true, false), "INDEX_NAME"));
    check(true, column(meta.getSchemas(), "TABLE_SCHEM").contains("public"));
    check(true, column(meta.getTypeInfo(), "TYPE_NAME").contains("numeric"));
    check("[]", column(meta.getImportedKeys(null, "public", "parts"), "FK_NAME"));
    check("[]", column(meta.getExportedKeys(null, "public", "parts"), "FK_NAME"));
    column(meta.getBestRowIdentifier(null, "public", "parts", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME");
    column(meta.getProcedures(null, "public", "%"), "PROCEDURE_NAME");
    column(meta.getFunctions(null, "public", "%"), "FUNCTION_NAME");
    column(meta.getTablePrivileges(null, "public", "parts"), "TABLE_NAME");
    column(meta.getCatalogs(), "TABLE_CAT");
    check(63, meta.getMaxColumnNameLength());
    check(true, meta.getSQLKeywords().contains("limit"));
  }

  private static List<String> keyInOrder(ResultSet rows) throws SQLException {
    List<String> out = new ArrayList<>(List.of("", ""));
    while (rows.next()) out.set(rows.getInt("KEY_SEQ") - 1, rows.getString("COLUMN_NAME"));
    return out;
  }

  public static void main(String[] arguments) throws Exception {
    try (Connection connection = connect()) {
      writes(connection);
      reads(connection);
      errors(connection);
      transactions(connection);
      pieces(connection);
      metadata(connection);
      check("public", connection.getSchema());
      check(true, connection.isValid(5));
    }
    try (Connection again = connect("prepareThreshold", "-1")) {  // Binary from the first run on.
      reads(again);
      pieces(again);
      cancel(again);
    }
    System.out.println("passed");
  }
}
