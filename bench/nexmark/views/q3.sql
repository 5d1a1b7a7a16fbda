-- Who sells in some states, and what.
create materialized view q3 as
select p.name, p.city, p.state, a.id
from auction a join person p on a.seller = p.id
where a.category = 10 and p.state in ('or', 'id', 'ca')
